import { FORK_MODES } from '../../verbs/fork-modes.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { allowanceIn } from '../allow.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { effortOf } from './adjust-agent.ts'
import type { AgentOptions } from './agent-options.ts'

/** Starts an agent whose session branches from that of another one. */
export async function forkAgent(
  { options, print }: Context<AgentOptions>,
  reeve: ReeveVerbs,
  [pid, goal, ...more]: readonly string[],
): Promise<number> {
  if (pid === undefined || goal === undefined || more.length > 0)
    throw new UsageError(
      'reeve agent fork needs an agent and a goal.',
      'For example: reeve agent fork fixer --at 3 "do it without the cache"',
    )
  const { at, mode, image, model, name, system, tool, path, root, worktree, once, effort } = options
  const answer = await reeve.forkAgent({
    pid,
    goal,
    ...(at === undefined ? {} : { at }),
    ...(mode === undefined ? {} : { mode: modeOf(mode) }),
    ...(image === undefined ? {} : { image }),
    ...(model === undefined ? {} : { model }),
    ...(name === undefined ? {} : { name }),
    ...(system === undefined ? {} : { system }),
    ...(effort === undefined ? {} : { effort: effortOf(effort) }),
    ...(tool.length === 0 ? {} : { tools: [...tool] }),
    ...(path.length === 0 ? {} : { paths: [...path] }),
    ...(root.length === 0 ? {} : { roots: [...root] }),
    ...(worktree ? { workspace: { worktree } } : {}),
    ...(once ? { once } : {}),
    ...allowanceIn(options.allow),
  })
  if (print.isJson) print.json(answer)
  else print.line(answer.record.pid)
  return 0
}

function modeOf(given: string): (typeof FORK_MODES)[number] {
  const mode = FORK_MODES.find((one) => one === given)
  if (mode !== undefined) return mode
  throw new UsageError(`--mode was given ${given}.`, `It takes ${FORK_MODES.join(', ')}.`)
}
