import type { Counted } from '../allowance/amounts.ts'
import { questionAnswer, questionProcess } from '../approval/question.ts'
import { objectOf } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Outcome, ProcessRecord } from '../process/record.ts'
import type { RegistrationRequest } from '../process/registration-request.ts'
import { type AgentState, softLimitsOf } from './state.ts'

const ENDING = '(soft limit): go on?'
const YES = 'yes'
const CHOICES = [YES, 'no']
const MAX_DECIMALS = 4

/** The question to a person whether an agent goes on that a soft limit has paused. */
export function softLimitQuestion(
  record: Pick<ProcessRecord, 'pid' | 'name' | 'identity' | 'owner' | 'spec'>,
  limit: Counted,
  totals: AgentState['totals'],
): RegistrationRequest {
  const { pid, name, identity, owner } = record
  const given = softLimitsOf(record)[limit] ?? 0
  const used = usedOf(limit, totals)
  const amounts = limit === 'cost' ? `$${rounded(used)} of $${given}` : `${used} of ${given} ${limit}`
  const question = `${name ?? identity.label} has used ${amounts} ${ENDING}`
  return {
    ...questionProcess({
      question,
      choices: CHOICES,
      timeoutMs: undefined,
      person: undefined,
      priority: undefined,
    }),
    parent: pid,
    // Not of the tool call that an agent belongs to: the answer is for Reeve, and no caller waits for it.
    owner: owner.session === undefined ? {} : { session: owner.session },
    lifetime: 'parent',
    causedBy: { softLimit: limit },
  }
}

/** The text that the pid of the question is derived from: each limit is asked about once. */
export function softLimitKeyOf(agent: Pid, limit: string): string {
  return `soft limit ${limit} of ${agent}`
}

/** The soft limit that a process asks about, and its agent; null if it is another process. Its pid has to be compared as well. */
export function softLimitAskedBy({
  originator,
  causedBy,
  parent,
  spec,
}: Pick<ProcessRecord, 'originator' | 'causedBy' | 'parent' | 'spec'>): {
  readonly agent: Pid
  readonly limit: string
} | null {
  const limit = causedBy?.['softLimit']
  const { question, choices } = objectOf(spec['input'])
  // An agent may ask questions of its own: a yes to one of them must not resume it.
  const isAsked =
    typeof question === 'string' && question.endsWith(ENDING) && String(choices) === String(CHOICES)
  const isOwn = parent !== null && originator === `process:${parent}` && isAsked
  return isOwn && typeof limit === 'string' ? { agent: parent, limit } : null
}

/** Everything but a clear yes leaves the agent paused. */
export function saysGoOn(outcome: Outcome): boolean {
  const answer = questionAnswer(outcome)
  return answer.type === 'replied' && answer.value === YES
}

function usedOf(limit: Counted, { inputTokens, outputTokens, cost }: AgentState['totals']): number {
  return limit === 'tokensIn' ? inputTokens : limit === 'tokensOut' ? outputTokens : cost
}

function rounded(amount: number): number {
  return Number(amount.toFixed(MAX_DECIMALS))
}
