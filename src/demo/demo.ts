import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StoredEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { embed } from '../embed/embed.ts'
import type { Reeve } from '../verbs/reeve.ts'
import { Ledger } from './ledger.ts'
import { prove } from './proofs.ts'
import { Screen } from './screen.ts'
import { Timeline } from './timeline.ts'
import { CHECKS, LETTERS, SESSION, toolsOf } from './tools.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const DEADLINE_MS = 20_000
/** The kernel looks after dead ones every ten seconds by default; nobody wants to watch that. */
const SWEEP_MS = 300

/** Two kernels on one file, one of them killed in the middle; then the proofs. The answer is the exit code. */
export async function demo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-demo-'))
  const over = new AbortController()
  let worker: ChildProcess | undefined
  const cleanUp = async () => {
    if (worker !== undefined) await killHard(worker)
    rmSync(folder, { recursive: true, force: true })
  }
  const leave = (signal: NodeJS.Signals) => void cleanUp().finally(() => process.kill(process.pid, signal))
  for (const signal of SIGNALS) process.once(signal, leave)
  const deadline = setTimeout(
    () => over.abort(new Error(`It was not over after ${DEADLINE_MS / 1_000} s.`)),
    DEADLINE_MS,
  )
  const startWorker = (store: string, ledger: string) => {
    worker = startProgram(store, ledger, (said) => over.abort(new Error(`The worker died early. ${said}`)))
    return worker
  }
  const screen = new Screen(process.stdout)
  try {
    return await story(folder, screen, over, startWorker)
  } catch (error) {
    screen.verdict(false, `The demo failed: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  } finally {
    over.abort()
    clearTimeout(deadline)
    await cleanUp()
    for (const signal of SIGNALS) process.removeListener(signal, leave)
  }
}

async function story(
  folder: string,
  screen: Screen,
  over: AbortController,
  startWorker: (store: string, ledger: string) => ChildProcess,
): Promise<number> {
  const store = join(folder, 'reeve.db')
  const ledgerFile = join(folder, 'ledger')
  const ledger = new Ledger(ledgerFile)
  const timeline = new Timeline(over.signal)
  screen.line('Two kernels share one SQLite file: one in this program, one in a worker.')
  screen.line('The worker registers a release, runs it, and is killed in the middle.')
  screen.line()

  const tools = toolsOf(ledger, () => Promise.resolve())
  const reeve = await embed({ store, tools, times: { sweepMs: SWEEP_MS } })
  const followed = timeline.follow(reeve)
  try {
    const archive = await beginHere(reeve, ledger)
    screen.say('here', `runs preview and archive in session ${SESSION}, PID ${process.pid}`)

    const worker = startWorker(store, ledgerFile)
    await timeline.until(() => timeline.pidsOf('letter').length === LETTERS)
    screen.say('worker', `runs release: ${CHECKS} checks, ${LETTERS} letters, PID ${worker.pid}`)
    await inTheMiddle(timeline)
    const done = (tool: string) => timeline.pidsOf(tool).filter((pid) => timeline.has(pid, 'ended')).length
    screen.say(
      'worker',
      `${done('check')} checks and ${done('letter')} letters are done; the rest are halfway`,
    )

    await killHard(worker)
    const killedAt = performance.now()
    screen.say('kill', `kill -9 ${worker.pid}`)

    await reeve.send({ pid: 'release', name: 'approved', value: 'by you' })
    screen.say('here', 'sends release the signal "approved": kept until it asks')

    await recovered(timeline)
    const after = Math.round(performance.now() - killedAt)
    const abandoned = timeline.ofType('ended').filter(isAbandoned).length
    screen.say('here', `finds the worker dead after ${after} ms, without being told`)
    screen.say(
      'here',
      `takes over ${timeline.ofType('holder_lost').length} rerunnable processes; they go on here`,
    )
    screen.say('here', `abandons ${abandoned} letters: sent or not, none is sent again`)

    await reeve.wait({ pid: 'release' }, { signal: over.signal })
    screen.say('here', 'release takes the signal, publishes, and is completed')

    await reeve.endSession({ session: SESSION })
    await timeline.until(() => ['preview', 'reload'].every((tool) => ended(timeline, tool)))
    screen.say('here', `ends session ${SESSION}, and preview with it, but not archive`)
    await reeve.send({ pid: archive, name: 'close' })
    await reeve.wait({ pid: archive }, { signal: over.signal })
    screen.say('here', 'sends archive the signal "close", and it is completed')

    const log = await readLog(reeve)
    await timeline.until(() => (timeline.events.at(-1)?.position ?? 0) >= (log.at(-1)?.position ?? 0))
    const records = await readRecords(reeve)
    screen.heading('What became of them')
    screen.tree(records, ranIn(log, reeve.kernel))
    screen.heading('What that proves')
    const proofs = prove({ ledger: ledger.read(), log, heard: timeline.events, records })
    for (const proof of proofs) screen.proof(proof)
    const failed = proofs.filter(({ holds }) => !holds).length
    screen.verdict(
      failed === 0,
      failed === 0 ? 'All proofs hold.' : `${failed} of ${proofs.length} proofs failed.`,
    )
    return failed === 0 ? 0 : 1
  } finally {
    over.abort()
    // A follower that broke has failed its proof above; here it must not hide what led out of the demo.
    await followed.catch(() => {})
    await reeve.close()
  }
}

/** What runs in this program: a preview that ends with the session, and an archive that does not. */
async function beginHere(reeve: Reeve, ledger: Ledger): Promise<string> {
  await reeve.openSession({ session: SESSION })
  const owner = { session: SESSION }
  const preview = await reeve.spawn({ kind: 'tool', spec: { tool: 'preview' }, owner, lifetime: 'session' })
  const archive = await reeve.spawn({ kind: 'tool', spec: { tool: 'archive' }, owner, lifetime: 'detached' })
  ledger.write('acknowledged', preview.record.pid)
  ledger.write('acknowledged', archive.record.pid)
  return archive.record.pid
}

/** As a source in a clone, built in the package. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url)
  : new URL('./worker.js', import.meta.url)

function startProgram(store: string, ledger: string, died: (said: string) => void): ChildProcess {
  const worker = spawn(process.execPath, [fileURLToPath(WORKER), store, ledger], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  worker.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  worker.on('exit', (_code, signal) => signal !== 'SIGKILL' && died(said))
  return worker
}

/** Every other check and letter has ended in the worker, and the rest are halfway through. */
function inTheMiddle(timeline: Timeline): Promise<void> {
  return timeline.until(() => {
    const pids = [...timeline.pidsOf('check'), ...timeline.pidsOf('letter')]
    const ends = pids.filter((pid) => timeline.has(pid, 'ended')).length
    return (
      pids.length === CHECKS + LETTERS &&
      pids.every((pid) => timeline.has(pid, 'halfway')) &&
      ends === pids.length / 2
    )
  })
}

/** Dead and reaped when it resolves. */
async function killHard(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exit = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exit
}

/** What the worker had in hand: release, checks, letters, and half of the checks go on; half of the letters do not. */
function recovered(timeline: Timeline): Promise<void> {
  return timeline.until(
    () =>
      timeline.ofType('holder_lost').length === 3 + CHECKS / 2 &&
      timeline.ofType('ended').filter(isAbandoned).length === LETTERS / 2,
  )
}

function isAbandoned({ payload }: StoredEvent): boolean {
  return (payload as { status?: unknown }).status === 'abandoned'
}

function ended(timeline: Timeline, tool: string): boolean {
  return timeline.pidsOf(tool).every((pid) => timeline.has(pid, 'ended'))
}

async function readLog(reeve: Reeve): Promise<StoredEvent[]> {
  const log: StoredEvent[] = []
  for (;;) {
    const { events } = await reeve.changes({ after: log.at(-1)?.position ?? 0, limit: 1_000 })
    if (events.length === 0) return log
    log.push(...events)
  }
}

async function readRecords(reeve: Reeve): Promise<ProcessRecord[]> {
  const { processes } = await reeve.list({ filter: { status: 'any' }, limit: 1_000 })
  return processes.map(({ record }) => record)
}

/** Which kernels executed a process, in order. */
function ranIn(log: readonly StoredEvent[], own: string): (record: ProcessRecord) => string {
  const started = log.filter(({ type }) => type === 'started')
  const holderOf = ({ payload }: StoredEvent) => (payload as unknown as { holder: string }).holder
  return ({ pid }) =>
    started
      .filter((event) => event.pid === pid)
      .map((event) => (holderOf(event) === own ? 'here' : 'worker'))
      .join(', then ')
}
