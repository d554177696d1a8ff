import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { connectWith } from '../client/connect.ts'
import type { AgentFollowed } from '../verbs/follow-calls.ts'
import type { OutputOf, Reeve } from '../verbs/reeve.ts'
import { proveAgent } from './agent-proofs.ts'
import { BrokenProject } from './broken-project.ts'
import { DemoDaemon } from './demo-daemon.ts'
import { Screen } from './screen.ts'
import { pollUntil } from './worker-process.ts'

type Item = OutputOf<'agentLog'>['items'][number]

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Ten times the usual duration, for a busy machine. */
const DEADLINE_MS = 60_000
const GOAL = 'Make the tests pass.'

/**
 * Runs a scripted agent under a daemon of its own, kills the daemon after the agent has read a file and before it edits it, while a command of
 * the agent runs, starts another, and checks the proofs.
 * Resolves with the exit code.
 */
export async function agentDemo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-demo-'))
  const screen = new Screen(process.stdout)
  const left = new AbortController()
  const over = AbortSignal.any([left.signal, AbortSignal.timeout(DEADLINE_MS)])
  const project = new BrokenProject(join(folder, 'project'))
  const daemon = new DemoDaemon(join(folder, 'home'))
  let cleaned: Promise<void> | undefined
  const cleanUp = () => {
    // A test run that waits ends by itself, so that nothing is left to hold.
    project.release()
    cleaned ??= daemon.clear().finally(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    return cleaned
  }
  const leave = (signal: NodeJS.Signals) => {
    screen.end()
    left.abort()
    void cleanUp().finally(() => process.kill(process.pid, signal))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await tell({ screen, project, daemon, over })
  } catch (error) {
    const why = over.aborted ? `It had not finished after ${DEADLINE_MS / 1_000} s.` : messageOf(error)
    screen.verdict(false, `The demo failed: ${why}`)
    return 1
  } finally {
    await cleanUp()
    for (const signal of SIGNALS) process.removeListener(signal, leave)
  }
}

interface Stage {
  readonly screen: Screen
  readonly project: BrokenProject
  readonly daemon: DemoDaemon
  readonly over: AbortSignal
}

async function tell({ screen, project, daemon, over }: Stage): Promise<number> {
  screen.heading('A coding agent, and a kill -9 in the middle')
  screen.line('  A script plays the model, so no key is needed. The tools are real.')
  screen.line()
  const first = await daemon.start(over)
  screen.say('here', `a daemon runs, PID ${first}; the test of sum.js fails`)
  const before = await connectWith({ home: daemon.home })
  const { record } = await before.spawn({
    kind: 'agent',
    spec: { agent: 'demo', model: 'scripted/demo', goal: GOAL },
    cwd: project.folder,
  })
  const { pid } = record
  screen.say('here', `the agent ${pid} gets the goal: ${GOAL}`)
  const shown = new Shown(screen)
  const told = follow(before, pid, shown, over)
  await pollUntil(() => project.testRuns() === 1, over)
  await daemon.kill()
  const wasGone = daemon.isGone(first)
  screen.say('kill', `kill -9 ${first}: the daemon is gone in a test run`)
  await before.close()
  await told
  project.release()
  const second = await daemon.start(over)
  screen.say('here', `another daemon runs, PID ${second}, and finds the agent`)
  const after = await connectWith({ home: daemon.home })
  await follow(after, pid, shown, over)
  const items = await allItems(after, pid)
  await after.shutDownAgent({ pid })
  await after.wait({ pid })
  daemon.keeper = (await after.status()).keeper?.osPid ?? null
  await after.close()

  screen.heading('Proofs')
  const proofs = proveAgent({
    items,
    wasGone,
    testRuns: project.testRuns(),
    source: project.source(),
    testsPass: project.testsPass(),
  })
  for (const proof of proofs) screen.proof(proof)
  const holds = proofs.every((proof) => proof.holds)
  screen.verdict(holds, holds ? 'All proofs hold.' : 'Some proofs do not hold.')
  return holds ? 0 : 1
}

/** Shows the session until the agent is idle, or the daemon is lost. */
async function follow(reeve: Reeve, pid: string, shown: Shown, signal: AbortSignal): Promise<void> {
  try {
    for await (const followed of reeve.followAgent({ pid }, { signal })) {
      shown.show(followed)
      if (followed.type === 'state' && followed.phase !== 'running') return
    }
  } catch (error) {
    if (signal.aborted || !shown.isBeforeKill) throw error
  }
  shown.isBeforeKill = false
}

/** Prints each entry once, also if a second follower begins at the start. */
class Shown {
  readonly #screen: Screen
  #seq = 0
  isBeforeKill = true

  constructor(screen: Screen) {
    this.#screen = screen
  }

  show(followed: AgentFollowed): void {
    if (followed.type === 'snapshot') for (const item of followed.page.items) this.#item(item)
    if (followed.type === 'item') this.#item(followed.item)
  }

  #item(item: Item): void {
    if (item.seq <= this.#seq) return
    this.#seq = item.seq
    if (item.type === 'assistant_item')
      for (const part of item.payload.parts)
        if (part.type === 'text') this.#screen.say('agent', String(part['text']))
    if (item.type === 'tool_called') this.#screen.say('agent', `→ ${item.payload.tool}`)
    if (item.type === 'tool_answered') this.#screen.say('agent', `  ${firstLine(item.payload.parts)}`)
  }
}

function firstLine(parts: readonly Readonly<Record<string, unknown>>[]): string {
  const [line = ''] = String(parts[0]?.['text'] ?? '')
    .replaceAll('\t', ' ')
    .split('\n')
  return line.length > 50 ? `${line.slice(0, 49)}…` : line
}

async function allItems(reeve: Reeve, pid: string): Promise<readonly Item[]> {
  const items: Item[] = []
  for (let after = 0; ; ) {
    const page = await reeve.agentLog({ pid, after })
    items.push(...page.items)
    if (!page.more) return items
    after = page.after
  }
}
