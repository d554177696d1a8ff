import { didYouMean } from '../../base/nearest-name.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  reason: { type: 'text', value: 'text', about: 'with revoke: why, for the list and the audit' },
} as const

type ToolContext = Context<Options<typeof OPTIONS>>
type Act = (context: ToolContext, args: readonly string[]) => Promise<number>

const ACTS: Readonly<Record<string, Act>> = { list, show, revoke }
const ACTIONS = Object.keys(ACTS)

export const tool = subcommand({
  name: 'tool',
  summary: 'Lists, shows and revokes tools that agents have written',
  usage: ['tool list <agent>', 'tool show <agent> <tool>', 'tool revoke <agent> <tool> [--reason <text>]'],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'An agent proposes a tool of its own, and you read it before it counts: reeve approvals, reeve approve. A revoked tool is refused from the next call on.',
  examples: [
    ['reeve tool list helper', ''],
    ['reeve tool show helper count_lines', 'its source and its schema'],
    ['reeve tool revoke helper count_lines', ''],
  ],
  async run(context) {
    const [action = '', ...rest] = context.args
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined)
      throw new UsageError(
        action === ''
          ? 'reeve tool needs to know what to do.'
          : `reeve tool does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    return act(context, rest)
  },
})

/** Of a hash, enough to name one version. */
const SHOWN_HASH_CHARS = 12

type Shown = OutputOf<'writtenTools'>['tools'][number]

async function list(context: ToolContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [pid, ...more] = args
  if (pid === undefined || more.length > 0) throw wrong('reeve tool list <agent>')
  const { tools } = await (await context.acting()).writtenTools({ pid })
  if (print.isJson) print.jsonList(tools)
  else
    print.table(
      [{ title: 'TOOL' }, { title: 'HASH' }, { title: 'STATE' }, { title: 'DESCRIPTION', flexible: true }],
      tools.map((one) =>
        [one.name, one.hash.slice(0, SHOWN_HASH_CHARS), stateOf(one, pid), one.description].map((text) => ({
          text,
        })),
      ),
    )
  return 0
}

function stateOf(
  { revoked, version, owner }: Pick<Shown, 'revoked' | 'version' | 'owner'>,
  pid: string,
): string {
  if (revoked !== null) return revoked.reason === null ? 'revoked' : `revoked: ${revoked.reason}`
  return owner === pid || !pid.startsWith('p_') ? `version ${version}` : `version ${version}, of ${owner}`
}

async function show(context: ToolContext, args: readonly string[]): Promise<number> {
  const { print } = context
  const [pid, name, ...more] = args
  if (pid === undefined || name === undefined || more.length > 0)
    throw wrong('reeve tool show <agent> <tool>')
  const { tools } = await (await context.acting()).writtenTools({ pid, name })
  for (const found of tools) {
    if (print.isJson) {
      print.json(found)
      continue
    }
    const { description, inputSchema, source = '' } = found
    const { bold, dim } = print.colours
    print.line(`${bold(name)} ${dim(`${stateOf(found, pid)}, hash ${found.hash}`)}`)
    print.line(description)
    print.line(found.approval === null ? 'allowed by a rule' : `approved: ${found.approval}`)
    print.line(`input: ${JSON.stringify(inputSchema)}`)
    print.line(`\n${source}`)
  }
  return 0
}

async function revoke(context: ToolContext, args: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve tool revoke')
  const { print, options } = context
  const [pid, name, ...more] = args
  if (pid === undefined || name === undefined || more.length > 0)
    throw wrong('reeve tool revoke <agent> <tool>')
  const { reason } = options
  const revoked = await (await context.acting()).revokeTool({
    pid,
    name,
    ...(reason === undefined ? {} : { reason }),
  })
  if (print.isJson) print.json(revoked)
  else print.line(`Revoked ${revoked.name} of ${revoked.owner}`)
  return 0
}

function wrong(usage: string): UsageError {
  return new UsageError('That is not how this subcommand is used.', usage)
}
