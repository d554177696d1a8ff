import type { ChildProcess } from 'node:child_process'
import { embed } from '../embed/embed.ts'
import type { Reeve } from '../verbs/reeve.ts'
import { type CommandEvidence, proveCommands } from './command-proofs.ts'
import {
  ANSWER,
  BUILD_CODE,
  COMMANDS,
  type DemoCommands,
  printedBy,
  SHELL_CODE,
  shownBy,
  TYPED_AFTER,
  TYPED_BEFORE,
} from './commands.ts'
import type { Ledger } from './ledger.ts'
import { abandoned, ended, inTheMiddle, recovered } from './moments.ts'
import { prove } from './proofs.ts'
import { ranIn, readLog, readRecords } from './reading.ts'
import type { Screen } from './screen.ts'
import { Timeline } from './timeline.ts'
import { CHECKS, LETTERS, SESSION, toolsOf } from './tools.ts'
import { isGone, killHard, pollUntil } from './worker-process.ts'

export interface Stage {
  readonly store: string
  readonly ledger: Ledger
  readonly commandFolder: DemoCommands
  readonly screen: Screen
  readonly over: AbortController
  readonly startWorker: () => ChildProcess
  /** Opens the folder of the dead worker's commands. */
  readonly comeBack: () => Promise<Reeve>
}

/** A kernel looks for dead kernels every ten seconds by default, which is too long for a demo. */
const SWEEP_MS = 300
/** How many lines `count` prints while no kernel runs its folder. */
const LINES_ALONE = 50

/** Plays the story, then checks the proofs. Resolves with the exit code. */
export async function tell(stage: Stage): Promise<number> {
  const { store, ledger, screen, over } = stage
  screen.line('Two kernels share one SQLite file: one in this program, one in a worker.')
  screen.line('The worker runs three commands and a release, and is killed in the middle.')
  screen.line()

  const timeline = new Timeline(over.signal)
  const tools = toolsOf(ledger, () => Promise.resolve())
  const reeve = await embed({ store, tools, times: { sweepMs: SWEEP_MS } })
  const followed = timeline.follow(reeve)
  try {
    const archive = await beginHere(reeve, ledger)
    screen.say('here', `runs preview and archive in session ${SESSION}, PID ${process.pid}`)
    await untilKilled(stage, timeline)
    const atKill = stage.commandFolder.counted().length
    await takeOver(stage, timeline, reeve)
    const { program } = await reeve.show({ pid: 'build' })
    const commands = await theCommands(stage, { atKill, buildsOsPid: program?.osPid ?? 0 })
    await endOfSession(stage, timeline, reeve, archive)
    return await judge(stage, timeline, reeve, commands)
  } finally {
    over.abort()
    // A broken follower fails its proof; here its error must not hide the one that ended the demo.
    await followed.catch(() => {})
    await reeve.close()
  }
}

/** Starts the tools of this program: a preview that ends with the session, and an archive that does not. */
async function beginHere(reeve: Reeve, ledger: Ledger): Promise<string> {
  await reeve.openSession({ session: SESSION })
  const owner = { session: SESSION }
  const preview = await reeve.spawn({ kind: 'tool', spec: { tool: 'preview' }, owner, lifetime: 'session' })
  const archive = await reeve.spawn({ kind: 'tool', spec: { tool: 'archive' }, owner, lifetime: 'detached' })
  ledger.write('acknowledged', preview.record.pid)
  ledger.write('acknowledged', archive.record.pid)
  return archive.record.pid
}

async function untilKilled({ screen, startWorker }: Stage, timeline: Timeline): Promise<void> {
  const worker = startWorker()
  await timeline.until(() => timeline.ofType('program_started').length === COMMANDS.length)
  screen.say('worker', `runs three commands: ${COMMANDS.join(', ')}`)
  screen.say('worker', `types ${TYPED_BEFORE} into shell, which has a terminal`)
  await timeline.until(() => timeline.pidsOf('letter').length === LETTERS)
  screen.say('worker', `runs release: ${CHECKS} checks, ${LETTERS} letters, PID ${worker.pid}`)
  await inTheMiddle(timeline)
  const done = (tool: string) => timeline.pidsOf(tool).filter((pid) => timeline.has(pid, 'ended')).length
  screen.say('worker', `${done('check')} checks and ${done('letter')} letters are done; the rest are halfway`)
  await killHard(worker)
  screen.say('kill', `kill -9 ${worker.pid}`)
}

/** The other kernel continues the release. */
async function takeOver({ screen, over }: Stage, timeline: Timeline, reeve: Reeve): Promise<void> {
  const killedAt = performance.now()
  await reeve.send({ pid: 'release', name: 'approved', value: 'by you' })
  screen.say('here', 'sends release the signal "approved": kept until it asks')

  await recovered(timeline)
  const after = Math.round(performance.now() - killedAt)
  screen.say('here', `finds the worker dead after ${after} ms, without being told`)
  screen.say(
    'here',
    `takes over ${timeline.ofType('holder_lost').length} rerunnable processes; they go on here`,
  )
  screen.say('here', `abandons ${abandoned(timeline)} letters: sent or not, none is sent again`)

  await reeve.wait({ pid: 'release' }, { signal: over.signal })
  screen.say('here', 'release takes the signal, publishes, and is completed')
}

/** The commands went on by themselves: one ends while no kernel is there, and the others get input after the return. */
async function theCommands(
  { screen, commandFolder, over, comeBack }: Stage,
  { atKill, buildsOsPid }: { readonly atKill: number; readonly buildsOsPid: number },
): Promise<CommandEvidence> {
  const { signal } = over
  commandFolder.letBuildEnd()
  await pollUntil(() => isGone(buildsOsPid), signal)
  screen.say('build', `ends with exit code ${BUILD_CODE}, and no kernel is there to see it`)
  await pollUntil(() => commandFolder.counted().length >= atKill + LINES_ALONE, signal)
  const atReturn = commandFolder.counted().length
  screen.say('count', `has printed ${atReturn - atKill} lines since the kill, and goes on`)

  const reeve = await comeBack()
  const { boot } = await reeve.status()
  screen.say(
    'here',
    `opens the commands' folder: ${boot.adopted.length} are alive, ${boot.completed.length} has ended`,
  )

  await reeve.submit({ pid: 'shell', text: TYPED_AFTER })
  await reeve.wait({ pid: 'shell', until: { pattern: `^${ANSWER}$` } }, { signal })
  await reeve.submit({ pid: 'shell', text: `exit ${SHELL_CODE}` })
  const shell = await endOf(reeve, 'shell', signal)
  const shown = await shownBy(reeve, 'shell')
  screen.say('here', 'types into shell, which is the one it was:')
  screen.terminal(shown)
  await reeve.signal({ pid: 'count', signal: 'SIGUSR1' })
  await endOf(reeve, 'count', signal)
  screen.say('here', 'sends count a SIGUSR1, and it comes to its end')

  return {
    atKill,
    atReturn,
    shell,
    screen: shown,
    endedMeanwhile: boot.completed,
    counted: commandFolder.counted(),
    printed: await printedBy(reeve, 'count'),
    build: await endOf(reeve, 'build', signal),
  }
}

async function endOf(reeve: Reeve, pid: string, signal: AbortSignal) {
  const waited = await reeve.wait({ pid }, { signal })
  if (waited.type !== 'ended') throw new Error(`${pid} did not end.`)
  return waited.record
}

async function endOfSession({ screen, over }: Stage, timeline: Timeline, reeve: Reeve, archive: string) {
  await reeve.endSession({ session: SESSION })
  await timeline.until(() => ['preview', 'reload'].every((tool) => ended(timeline, tool)))
  screen.say('here', `ends session ${SESSION}, and preview with it, but not archive`)
  await reeve.send({ pid: archive, name: 'close' })
  await reeve.wait({ pid: archive }, { signal: over.signal })
  screen.say('here', 'sends archive the signal "close", and it is completed')
}

async function judge(
  { screen, ledger }: Stage,
  timeline: Timeline,
  reeve: Reeve,
  commands: CommandEvidence,
): Promise<number> {
  const log = await readLog(reeve)
  await timeline.until(() => (timeline.events.at(-1)?.position ?? 0) >= (log.at(-1)?.position ?? 0))
  const records = await readRecords(reeve)
  screen.heading('What became of them')
  screen.tree(records, ranIn(log, reeve.kernel))
  screen.heading('What that proves')
  const proofs = [
    ...prove({ ledger: ledger.read(), log, heard: timeline.events, records }),
    ...proveCommands(commands),
  ]
  for (const proof of proofs) screen.proof(proof)
  const failed = proofs.filter(({ holds }) => !holds).length
  screen.verdict(
    failed === 0,
    failed === 0 ? 'All proofs hold.' : `${failed} of ${proofs.length} proofs failed.`,
  )
  return failed === 0 ? 0 : 1
}
