import { EFFORTS } from '../../verbs/efforts.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { amountsIn } from '../allow.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import type { AgentOptions } from './agent-options.ts'

/** Raises limits of an agent. Inputs that waited because of a limit go on. */
export async function allowMore(
  { print }: Context<AgentOptions>,
  reeve: ReeveVerbs,
  [pid, ...given]: readonly string[],
): Promise<number> {
  if (pid === undefined || given.length === 0)
    throw new UsageError(
      'reeve agent allow needs an agent and the amounts to add.',
      'For example: reeve agent allow fixer cost=5',
    )
  const amounts = amountsIn('reeve agent allow', given)
  const answer = await reeve.allowAgent({ pid, amounts })
  if (print.isJson) {
    print.json(answer)
    return 0
  }
  print.line(
    answer.turn === null ? 'allowed' : `allowed: turn ${answer.turn} goes on with an input that waited`,
  )
  const left = Object.entries((await reeve.budget({ pid })).left ?? {})
  if (left.length > 0) print.aside(`left: ${left.map(([name, amount]) => `${name}=${amount}`).join(' ')}`)
  if (answer.turn === null) print.aside(`reeve agent send ${pid} "go on" begins its next turn.`)
  return 0
}

/** Changes the model of an agent, from its next model call on. */
export async function changeModel(
  { print, options }: Context<AgentOptions>,
  reeve: ReeveVerbs,
  [pid, model, ...more]: readonly string[],
): Promise<number> {
  if (pid === undefined || model === undefined || more.length > 0)
    throw new UsageError(
      'reeve agent model needs an agent and one model.',
      'For example: reeve agent model fixer anthropic/claude-opus-5-5 --effort high',
    )
  const { effort } = options
  const answer = await reeve.configureAgent({
    pid,
    model,
    ...(effort === undefined ? {} : { effort: effortOf(effort) }),
  })
  if (print.isJson) print.json(answer)
  else print.line(`${answer.model}${answer.effort === undefined ? '' : `, effort ${answer.effort}`}`)
  return 0
}

export function effortOf(given: string): (typeof EFFORTS)[number] {
  const effort = EFFORTS.find((one) => one === given)
  if (effort !== undefined) return effort
  throw new UsageError(`--effort was given ${given}.`, `It takes ${EFFORTS.join(', ')}.`)
}
