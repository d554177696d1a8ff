import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { REMEMBERED_TOOLS } from '../tool/built-in-name.ts'
import { isOnBranch } from './branch.ts'
import type { AgentEntry } from './history.ts'
import type { AgentState, CallPlace, ReferredOutput, ToolCallRef } from './state.ts'
import { toolCallName } from './state.ts'

/** What is known of a process that a tool call is, or has started. */
export interface CalledProcess {
  /** `owner.toolCall`. */
  readonly toolCall: string | null
  /** The tool that it is; null if it is none. */
  readonly target: string | null
}

/**
 * Whether a process belongs to a tool call that is before the live segment of its agent: prompts are not made of it any more, and its
 * input and result are in the session log. A tool whose last result is the agent's memory stays open.
 */
export function isOfEarlierSegment(
  { pid, agent }: Pick<ProcessRecord, 'pid' | 'agent'>,
  { toolCall, target }: CalledProcess,
): boolean {
  const keeps = agent?.segment.keeps
  const ref = toolCall === null ? null : refIn(pid, toolCall)
  if (keeps === undefined || ref === null || (target !== null && REMEMBERED_TOOLS.has(target))) return false
  return isBefore(ref, keeps)
}

/** Whether a process belongs to a tool call on the current branch of an agent. What the agent read on another one, its prompts do not have. */
export function isOfBranch(
  agent: Pick<AgentState, 'branch'>,
  pid: Pid,
  { toolCall }: Pick<ProcessRecord['owner'], 'toolCall'>,
): boolean {
  const ref = toolCall === undefined ? null : refIn(pid, toolCall)
  return ref === null || isOnBranch(agent, ref.turn)
}

/** Whether the live segment of a live agent shows the output of a command: the call that started it, or a later one. */
export function isOutputShownBy(
  agent: Pick<ProcessRecord, 'pid' | 'agent' | 'outcome'>,
  { pid, owner }: Pick<ProcessRecord, 'pid' | 'owner'>,
): boolean {
  if (agent.agent === null || agent.outcome !== null) return false
  const isClosed = isOfEarlierSegment(agent, { toolCall: owner.toolCall ?? null, target: null })
  return !isClosed || (agent.agent.outputs ?? []).some((output) => output.pid === pid)
}

/** The agent that a name of `toolCallName` begins with. */
export function agentOfCall(toolCall: string): Pid {
  return toolCall.split('.', 1)[0] ?? ''
}

/** The model call of the entry with this `seq`; null if there is none. */
export function callOf(entries: readonly AgentEntry[], seq: number | null): CallPlace | null {
  const payload = entries.find((entry) => entry.seq === seq)?.payload
  return payload !== undefined && 'call' in payload ? { turn: payload.turn, call: payload.call } : null
}

/** The outputs of commands that a segment refers to, when its first call is at this place. */
export function outputsFrom({ outputs = [] }: AgentState, keeps: CallPlace): readonly ReferredOutput[] {
  return outputs.filter((output) => !isBefore(output, keeps))
}

/** The agent with one more output that its live segment refers to. The latest reference to a command counts. */
export function withOutputOf(agent: AgentState, output: ReferredOutput): AgentState {
  const others = (agent.outputs ?? []).filter(({ pid }) => pid !== output.pid)
  return { ...agent, outputs: [...others, output].slice(-MAX_REFERRED_OUTPUTS) }
}

/** Commands of earlier calls whose output a segment shows again. The record names them, so there is a bound; the first are let go. */
const MAX_REFERRED_OUTPUTS = 64

function isBefore(one: CallPlace, other: CallPlace): boolean {
  return one.turn < other.turn || (one.turn === other.turn && one.call < other.call)
}

/** The tool call of this agent that a name of `toolCallName` stands for; null if it is no such name. */
function refIn(pid: string, name: string): ToolCallRef | null {
  const [turn = Number.NaN, call = Number.NaN, index = Number.NaN] = name
    .slice(pid.length + 1)
    .split('.')
    .map(Number)
  const ref = { turn, call, index }
  return toolCallName(pid, ref) === name ? ref : null
}
