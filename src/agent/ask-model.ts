import { pause } from '../base/pause.ts'
import type { CallAnswer, Usage } from '../core/model/answer.ts'
import { continueAnswer } from '../core/model/continue-answer.ts'
import { NO_PROGRESS, nextStep } from '../core/model/next-step.ts'
import type { AssistantPart, ModelRequest } from '../core/model/prompt.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { AgentLedger } from './agent-ledger.ts'
import { type CallPlace, failureOf, type ModelCaller, type TurnFailure } from './call-model.ts'
import type { AgentModel } from './open-for-agent.ts'

/** `answer` is the last one: of a whole answer `text` has all that was said. `usage` is that of all calls. */
export interface Asked {
  readonly type: 'asked'
  readonly answer: CallAnswer
  readonly text: string
  readonly model: AgentModel
  readonly request: ModelRequest
  readonly usage: Usage | undefined
}

/** Asks a model for a text that is no part of the session: with retries, continuations and fallbacks like any other call. */
export async function askModel(
  { ledger, caller }: { readonly ledger: AgentLedger; readonly caller: ModelCaller },
  record: ProcessRecord,
  at: CallPlace,
  { request: asked, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
): Promise<Asked | TurnFailure> {
  const { clock, random } = ledger.kernel.edges
  const models = caller.modelsOf(record).length
  let progress = NO_PROGRESS
  let said: readonly AssistantPart[] = []
  let usage: Usage | undefined
  let last: CallAnswer | null = null
  for (;;) {
    const opened = await caller.openFrom(record, progress.model)
    if ('reason' in opened) return last === null || !('failure' in last) ? opened : failureOf(last.failure)
    const { model } = opened
    progress = { ...progress, model: opened.place }
    const request = { ...asked, prompt: [...asked.prompt, ...continueAnswer(said, model)] }
    const answer = await model.call(request, { abortSignal: signal })
    last = answer
    usage = sumOfUses(usage, 'usage' in answer ? answer.usage : undefined)
    const next = nextStep({ answer, progress, models, random: random() })
    if (signal.aborted || next.type === 'use' || next.type === 'compact' || next.type === 'give_up') {
      const text = `${textOf(said, '')}${answer.type === 'answered' ? textOf(answer.parts, '\n') : ''}`
      return { type: 'asked', answer, text, model, request, usage }
    }
    await caller.retry(at, next)
    const isContinued = next.type === 'continue' && answer.type === 'cut'
    said = isContinued ? withText(said, textOf(answer.parts, '\n')) : []
    progress = next.progress
    await pause(clock, 'delayMs' in next ? next.delayMs : 0, signal)
  }
}

function withText(said: readonly AssistantPart[], text: string): readonly AssistantPart[] {
  return text === '' ? said : [{ type: 'text', text: `${textOf(said, '')}${text}` }]
}

function textOf(parts: readonly AssistantPart[], between: string): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(between)
}

/** What several calls have used together. */
export function sumOfUses(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    isEstimate: one.isEstimate || other.isEstimate,
  }
}
