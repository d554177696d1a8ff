import { pause } from '../../base/pause.ts'
import type { MemoryUse } from '../../core/memory/memory-note.ts'
import type { CallAnswer, Usage } from '../../core/model/answer.ts'
import { continueAnswer } from '../../core/model/continue-answer.ts'
import { estimateUsage } from '../../core/model/estimate.ts'
import { modelIdOf } from '../../core/model/model-id.ts'
import { NO_PROGRESS, nextStep } from '../../core/model/next-step.ts'
import { costOf } from '../../core/model/price.ts'
import type { AssistantPart, ModelRequest } from '../../core/model/prompt.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { refuseModelByRules } from '../../kernel/model-rules.ts'
import type { AgentParts } from '../agent-parts.ts'
import { type AgentModel, openForAgent } from '../open-for-agent.ts'

/** The models that keep the memory of an agent, the preferred one first. */
export interface MemoryModels {
  readonly ids: readonly string[]
  readonly timeoutMs: number
}

/** Why a job cannot go on. The message is for people. */
export class MemoryFailure extends Error {
  override readonly name = 'MemoryFailure'
}

export type MemoryAnswer =
  | { readonly type: 'answered'; readonly text: string }
  /** The request was too long for the model. */
  | { readonly type: 'overflow' }

interface Asking {
  readonly agent: ProcessRecord
  readonly job: Pid
  readonly models: MemoryModels
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

/** The first of the models that can be opened. */
export async function openMemoryModel(
  { kernel, models }: { readonly kernel: Kernel; readonly models: AgentParts['models'] },
  agent: ProcessRecord,
  ids: readonly string[],
  from = 0,
): Promise<{ readonly model: AgentModel; readonly place: number }> {
  let first: string | null = null
  for (const [place, id] of ids.entries()) {
    if (place < from) continue
    const denied = await refuseModelByRules(kernel.edges, agent.pid, id, 'answered')
    const opened = denied ?? (await openForAgent(models, agent, id))
    if ('model' in opened) return { model: opened.model, place }
    first ??= `${opened.message} ${opened.remedy}`
  }
  throw new MemoryFailure(first ?? 'There is no model that keeps its long-term memory.')
}

/**
 * Asks a model for one text: with retries, continuations and fallbacks as for any other call. Each call is noted in the log of the agent
 * before it is sent, and charged to the agent after it; one that is lost with this program is charged as an estimate.
 */
export async function askMemoryModel(
  parts: { readonly kernel: Kernel; readonly models: AgentParts['models'] },
  { agent, job, models, request: asked, signal: stop }: Asking,
): Promise<MemoryAnswer> {
  const { clock, random, newId } = parts.kernel.edges
  const signal = AbortSignal.any([stop, AbortSignal.timeout(models.timeoutMs)])
  let progress = NO_PROGRESS
  let said = ''
  for (;;) {
    const { model, place } = await openMemoryModel(parts, agent, models.ids, progress.model)
    progress = { ...progress, model: place }
    const beginning: readonly AssistantPart[] = said === '' ? [] : [{ type: 'text', text: said }]
    const request = { ...asked, prompt: [...asked.prompt, ...continueAnswer(beginning, model)] }
    const call = newId()
    const note = (what: Parameters<Kernel['agents']['noteMemory']>[2], key: string) =>
      parts.kernel.agents.noteMemory(agent.pid, `${key}:${call}`, what)
    await note({ type: 'call_begun', job, call, estimate: useOf(model, estimateUsage(request, [])) }, 'begun')
    const answer = await model.call(request, { abortSignal: signal })
    const usage = usageIn(answer, request)
    await note({ type: 'call_ended', job, call, use: usage === null ? null : useOf(model, usage) }, 'ended')
    stop.throwIfAborted()
    if (answer.type === 'overflow') return { type: 'overflow' }
    const text = textOf(answer)
    if (answer.type === 'answered') return { type: 'answered', text: `${said}${text}` }
    if (signal.aborted)
      throw new MemoryFailure(`${model.id} did not answer within ${models.timeoutMs / 1_000} s.`)
    const next = nextStep({ answer, progress, models: models.ids.length, random: random() })
    if (next.type === 'give_up' || !('progress' in next)) throw new MemoryFailure(whyNot(answer, model))
    said = next.type === 'continue' ? `${said}${text}` : ''
    progress = next.progress
    await pause(clock, 'delayMs' in next ? next.delayMs : 0, signal).catch(() => undefined)
    stop.throwIfAborted()
  }
}

function useOf(model: AgentModel, usage: Usage): MemoryUse {
  const cost = costOf(usage, model.facts.price)
  const { inputTokens, cachedInputTokens, outputTokens, isEstimate } = usage
  return {
    model: modelIdOf(model),
    inputTokens,
    cachedInputTokens,
    outputTokens,
    cost: cost.type === 'known' ? cost.microUsd / 1e6 : null,
    isEstimate,
  }
}

/** Null: the call failed before the model used anything. */
function usageIn(answer: CallAnswer, request: ModelRequest): Usage | null {
  if ('usage' in answer && answer.usage !== undefined) return answer.usage
  return answer.type === 'aborted' ? estimateUsage(request, answer.parts) : null
}

function partsIn(answer: CallAnswer): readonly AssistantPart[] {
  return 'parts' in answer ? answer.parts : []
}

function textOf(answer: CallAnswer): string {
  return partsIn(answer)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
}

function whyNot(answer: CallAnswer, { id }: AgentModel): string {
  if ('failure' in answer) return `${id}: ${answer.failure.message}`
  return 'message' in answer ? `${id}: ${answer.message}` : `The answer of ${id} was ${answer.type}.`
}
