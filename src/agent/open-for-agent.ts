import type { ModelFacts } from '../core/model/facts.ts'
import { refuseUnpriced } from '../core/model/price.ts'
import type { ModelRefusal } from '../core/model/refusal.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Model } from '../model/model.ts'
import type { AgentParts } from './agent-parts.ts'

/** A model as an agent uses it. A model object gives itself another name than the agent does. */
export interface AgentModel extends Model {
  /** The name that the agent uses. */
  readonly id: string
  readonly facts: ModelFacts
}

/** Opens a model for an agent: one without a price is refused if the agent has a budget of cost. */
export async function openForAgent(
  models: AgentParts['models'],
  {
    cwd,
    limits,
  }: { readonly cwd: string | null; readonly limits: Pick<ProcessRecord['limits'], 'allowance'> },
  id: string,
): Promise<{ readonly type: 'opened'; readonly model: AgentModel } | ModelRefusal> {
  const opened = await models.open(id, cwd ?? '/')
  if (opened.type === 'refused') return opened
  const { model } = opened
  const facts = models.factsOf(id, model)
  const { provider, model: name } = model
  const asked: AgentModel = { id, facts, provider, model: name, call: (...given) => model.call(...given) }
  return refuseUnpriced(id, facts.price, limits.allowance ?? {}) ?? { type: 'opened', model: asked }
}
