import { didYouMean } from '../../base/nearest-name.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  discard: { type: 'flag', about: 'remove: also with work that is nowhere else, which is lost' },
} as const

type WorktreeContext = Context<Options<typeof OPTIONS>>
type Act = (context: WorktreeContext, args: readonly string[]) => Promise<number>

const ACTS: Readonly<Record<string, Act>> = { list, merge, remove }
const ACTIONS = Object.keys(ACTS)

export const worktree = subcommand({
  name: 'worktree',
  summary: 'Lists, merges and removes the git worktrees of agents',
  usage: ['worktree [list]', 'worktree merge <agent>', 'worktree remove [--discard] <agent>'],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'reeve agent spawn --worktree gives an agent a git worktree and a branch of its own. It is removed when the agent has ended, if all of its work is merged, and kept otherwise.',
  examples: [
    ['reeve worktree', 'those that there are, and why they are kept'],
    ['reeve worktree merge notes', 'into the checkout that it was made from'],
    ['reeve worktree remove --discard notes', 'with its work'],
  ],
  async run(context) {
    const [action = 'list', ...rest] = context.args
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined)
      throw new UsageError(
        `reeve worktree does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    return act(context, rest)
  },
})

async function list(context: WorktreeContext): Promise<number> {
  const { print } = context
  const { worktrees } = await (await context.acting()).worktrees({})
  if (print.isJson) print.jsonList(worktrees)
  else
    print.table(
      [
        { title: 'AGENT' },
        { title: 'BRANCH' },
        { title: 'STATE' },
        { title: 'WORK' },
        { title: 'FOLDER', flexible: true },
      ],
      worktrees.map((one) =>
        [
          one.name,
          one.branch,
          one.state === 'in_use' ? 'in use' : 'kept',
          one.because ?? '-',
          one.folder,
        ].map((text) => ({ text })),
      ),
    )
  return 0
}

async function merge(context: WorktreeContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const merged = await (await context.acting()).mergeWorktree({ worktree: agentIn('merge', args) })
  if (print.isJson) print.json(merged)
  else if (merged.type === 'unchanged') print.line(`${merged.into} has all of ${merged.branch} already.`)
  else for (const path of merged.paths) print.line(path)
  return 0
}

async function remove(context: WorktreeContext, args: readonly string[]): Promise<number> {
  const { print, options } = context
  const worktree = agentIn('remove', args)
  const removed = await (await context.acting()).removeWorktree({ worktree, discard: options.discard })
  if (print.isJson) print.json(removed)
  return 0
}

function agentIn(action: string, [agent, ...more]: readonly string[]): string {
  if (agent !== undefined && more.length === 0) return agent
  throw new UsageError(
    `reeve worktree ${action} needs one agent.`,
    'Give the name or the pid of its agent, as reeve worktree list shows it.',
  )
}
