import type { OutputOf } from '../verbs/reeve.ts'
import type { Proof } from './proofs.ts'

type Item = OutputOf<'agentLog'>['items'][number]

/** The calls of the script. */
const TOOLS = ['read_file', 'run_command', 'edit_file', 'run_command']

export interface AgentEvidence {
  /** The session log. */
  readonly items: readonly Item[]
  /** Whether the operating system no longer knew the killed daemon. */
  readonly wasGone: boolean
  /** Counted by the tests of the project, outside of the store. */
  readonly testRuns: number
  readonly source: string
  /** Found by a run of the tests without Reeve. */
  readonly testsPass: boolean
}

/** Compares the session with the files that it was about. */
export function proveAgent({ items, wasGone, testRuns, source, testsPass }: AgentEvidence): Proof[] {
  const called = items.flatMap((item) => (item.type === 'tool_called' ? [item.payload] : []))
  const answered = items.flatMap((item) => (item.type === 'tool_answered' ? [item.payload] : []))
  const ends = items.flatMap((item) => (item.type === 'turn_ended' ? [item.payload.reason] : []))
  const tools = called.map(({ tool }) => tool)
  const commands = tools.filter((tool) => tool === 'run_command').length
  const unanswered = called.filter(
    ({ callId }) => answered.filter((one) => one.callId === callId).length !== 1,
  )
  const interrupted = answered.filter((one) => one.interrupted === true)
  return [
    proof(wasGone, 'The daemon was gone in the middle of a command.', ['Its PID was still in use.']),
    proof(
      ends.length === 1 && ends[0] === 'finished',
      'The turn went on by itself, and finished.',
      ends.map((end) => `The turn ended: ${end}`),
    ),
    proof(
      tools.join() === TOOLS.join(),
      `The agent called ${called.length} tools, in the order of the script.`,
      tools,
    ),
    proof(
      unanswered.length === 0 && interrupted.length === 0,
      'Each call has one result, and none was interrupted.',
      [...unanswered, ...interrupted].map(({ callId }) => callId),
    ),
    proof(
      testRuns === commands && commands === 2,
      `Each command ran once: ${commands} calls, ${testRuns} runs counted by the tests.`,
      [`${testRuns} runs`],
    ),
    proof(source.split('return a + b').length === 2, 'sum.js was repaired once.', source.split('\n')),
    proof(testsPass, 'The tests pass, run here without Reeve.', ['They fail.']),
  ]
}

function proof(holds: boolean, text: string, missing: readonly string[]): Proof {
  return { holds, text, missing }
}
