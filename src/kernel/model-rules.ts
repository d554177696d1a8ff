import { modelNeed } from '../core/capability/needs.ts'
import type { Pid } from '../core/process/pid.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import { explainEffect } from './explain.ts'

/** An ask is answered when an agent is registered: a turn that runs cannot wait for a person at each call of its model. */
type Asks = 'refused' | 'answered'

/** Refuses a model that the rules of an agent do not let it call. */
export async function refuseModelByRules(
  edges: Edges,
  agent: Pid,
  model: string,
  asks: Asks,
): Promise<Refusal | undefined> {
  const explained = await explainEffect(edges, modelNeed(model), { actor: `process:${agent}`, cwd: null })
  if (isRefusal(explained)) return explained
  const { ruling } = explained
  if (ruling.type === 'deny')
    return refusal(
      'denied',
      `${agent} may not call the model ${model}: ${ruling.reason}`,
      'Name another model, or ask the person who set the rules.',
      { subject: `process:${agent}`, rule: ruling.rule?.text ?? null },
    )
  if (ruling.type === 'allow' || asks === 'answered') return undefined
  return refusal(
    'denied',
    `A person must be asked before ${agent} calls the model ${model}: ${ruling.rule.text}`,
    'Start an agent with this model: the person is asked then.',
    { subject: `process:${agent}`, rule: ruling.rule.text },
  )
}
