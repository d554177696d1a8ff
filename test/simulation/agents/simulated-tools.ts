import * as z from 'zod'
import { type AgentTool, agentTool, ToolError, textOutput } from '../../../src/agent/tools/agent-tool.ts'
import type { ScriptHost } from '../script.ts'
import { abortedOr } from './aborted-or.ts'
import type { SessionLaws } from './session-laws.ts'

/** `note` must not be repeated; `look` may run again. */
export const TOOLS = ['note', 'look'] as const

const ENDINGS = [
  ['return', 10],
  ['fail', 1],
  ['wait', 2],
  ['hang', 4],
  ['die', 0.5],
] as const
const MAX_WAIT_MS = 4_000
const LOOK_MS = 1_000

/** Tools whose work takes turns of the simulator, and may fail, wait, or kill its kernel. */
export function simulatedTools(host: ToolHost, laws: SessionLaws): readonly AgentTool[] {
  return TOOLS.map((name) =>
    agentTool({
      name,
      description: name,
      input: z.object({ n: z.number() }),
      recovery: name === 'look' ? 'rerunnable' : 'bound',
      async run(_input, { pid, abortSignal }) {
        laws.effects.begin(pid)
        await work(host, abortSignal, () => laws.isOpen(pid))
        return textOutput(laws.effects.end(pid))
      },
    }),
  )
}

export type ToolHost = Pick<ScriptHost, 'stage' | 'turn' | 'die'> & {
  readonly clock: { after(ms: number, task: () => void): () => void }
}

async function work(host: ToolHost, signal: AbortSignal, isOpen: () => boolean): Promise<void> {
  const { random, faulty, counts } = host.stage
  for (let turns = random.between(0, 2); turns > 0; turns--) await abortedOr(signal, host.turn())
  const [ending] = random.weighted(ENDINGS, ([, weight]) => weight)
  if (ending === 'fail') throw new ToolError('io_error', 'The tool broke.')
  const pause = (ms: number) =>
    abortedOr(signal, new Promise<void>((resolve) => host.clock.after(ms, resolve)))
  if (ending === 'wait') await pause(random.between(1, MAX_WAIT_MS))
  // At rest it ends, so that its turn does. Only an interrupt ends it after its turn.
  if (ending === 'hang') while (host.stage.faulty || !isOpen()) await pause(LOOK_MS)
  if (ending !== 'die' || !faulty) return
  counts.fault('a tool kills its kernel')
  host.die('by a tool of an agent')
  await new Promise(() => {})
}
