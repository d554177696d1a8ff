import { factsOf } from '../core/model/facts.ts'
import { refuseUnpriced } from '../core/model/price.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { OpenedModel } from '../model/models.ts'
import type { AgentParts } from './agent-parts.ts'

/** Opens a model for an agent: one without a price is refused if the agent has a budget of cost. */
export async function openForAgent(
  models: AgentParts['models'],
  { cwd, limits }: Pick<ProcessRecord, 'cwd' | 'limits'>,
  id: string,
): Promise<OpenedModel> {
  const opened = await models.open(id, cwd ?? '/')
  if (opened.type === 'refused') return opened
  const { price } = factsOf(opened.model, models.overrides)
  return refuseUnpriced(opened.model, price, limits.allowance ?? {}) ?? opened
}
