import { didYouMean } from '../../base/nearest-name.ts'
import { isInsideProgram } from '../../os/program-marks.ts'
import type { Context } from '../context.ts'
import { DENIED } from '../exit-code.ts'
import { ago } from '../print/times.ts'
import { removeEach } from '../remove-each.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ROLES = ['read', 'operate', 'admin', 'agent']
const ACTIONS = ['create', 'list', 'revoke']

interface TokenOptions {
  readonly role: string | undefined
  readonly session: string | undefined
  readonly label: string | undefined
  readonly person: string | undefined
  readonly approver: boolean
}

export const token = subcommand({
  name: 'token',
  summary: 'Makes, lists and revokes tokens for the HTTP address',
  usage: [
    'token create --role <role> [--session <id>] [--person <name> [--approver]] [--label <text>]',
    'token list',
    'token revoke <id>…',
  ],
  completes: ACTIONS,
  options: {
    role: {
      type: 'text',
      short: 'r',
      value: 'role',
      choices: ROLES,
      about: 'what the token may do; by default read',
    },
    session: { type: 'text', value: 'id', about: 'the session that an agent token is bound to' },
    label: { type: 'text', short: 'l', value: 'text', about: 'a description' },
    person: {
      type: 'text',
      value: 'name',
      about: 'whose token it is: this person answers requests and changes rules',
    },
    approver: {
      type: 'flag',
      about: "of an agent token: the person sits at the agent's client, and may be asked there",
    },
  },
  about: `
The role read may look, operate may start and stop, admin may do everything; agent sees and changes only its session.
A token without a person cannot answer requests (reeve approve), and an agent token never can by itself.
A token is printed once. Creating and revoking take effect at once. This subcommand does not run inside a Reeve process.`,
  examples: [
    ['reeve token create --role agent --session s1', 'for an agent'],
    [
      'reeve token create --role operate --person ada',
      "for Ada's program, which answers requests in her name",
    ],
    ['reeve token list', ''],
    ['reeve token revoke t_1f2e3d4c5b6a', ''],
  ],
  async run(context) {
    const { args, around, print } = context
    if (isInsideProgram(around.env)) {
      print.failure({
        code: 'denied',
        message: 'Tokens are not made inside a Reeve process.',
        remedy: 'Run reeve token in a terminal of your own.',
      })
      return DENIED
    }
    const [action = 'list', ...rest] = args
    if (action === 'create') return create(context, rest)
    if (action === 'list') return list(context, rest)
    if (action === 'revoke') return revoke(context, rest)
    throw new UsageError(
      `reeve token does not know ${action}.${didYouMean(action, ACTIONS)}`,
      'It knows create, list and revoke.',
    )
  },
})

async function create(context: Context<TokenOptions>, rest: readonly string[]): Promise<number> {
  const { daemon, home, options, print } = context
  if (rest.length > 0)
    throw new UsageError(`reeve token create was given ${rest.join(' ')}.`, 'Give a label with --label.')
  const { session, label, person, approver } = options
  const role = options.role ?? (session === undefined ? 'read' : 'agent')
  if ((role === 'agent') !== (session !== undefined))
    throw new UsageError(
      'An agent token needs a session, and other tokens have none.',
      'Give --role agent and --session <id>.',
    )
  if (approver && (role !== 'agent' || person === undefined))
    throw new UsageError(
      'Only an agent token with a person has an approver.',
      'Give --role agent, --session <id>, --person <name> and --approver.',
    )
  const tokens = await daemon.tokens(home)
  const made = await tokens.create({
    role,
    ...(session === undefined ? {} : { session }),
    ...(label === undefined ? {} : { label }),
    ...(person === undefined ? {} : { person }),
    ...(approver ? { approver } : {}),
  })
  if (print.isJson) print.json(made)
  else print.line(made.token)
  return 0
}

async function list(context: Context<TokenOptions>, rest: readonly string[]): Promise<number> {
  const { daemon, home, print } = context
  if (rest.length > 0)
    throw new UsageError(`reeve token list was given ${rest.join(' ')}.`, 'It takes no arguments.')
  const tokens = await (await daemon.tokens(home)).list()
  if (print.isJson) print.jsonList(tokens)
  else
    print.table(
      [
        { title: 'ID' },
        { title: 'ROLE' },
        { title: 'SESSION' },
        { title: 'PERSON' },
        { title: 'CREATED' },
        { title: 'LABEL', flexible: true },
      ],
      tokens.map(({ id, role, session, person, approver, createdAt, label }) => [
        { text: id, paint: print.colours.blue },
        { text: role },
        { text: session ?? '' },
        { text: `${person ?? ''}${approver === true ? ' (approver)' : ''}` },
        { text: ago(createdAt, Date.now()), paint: print.colours.dim },
        { text: label ?? '' },
      ]),
    )
  return 0
}

async function revoke(context: Context<TokenOptions>, ids: readonly string[]): Promise<number> {
  const { daemon, home, print } = context
  if (ids.length === 0)
    throw new UsageError('reeve token revoke needs the id of a token.', 'Run reeve token list to see them.')
  const tokens = await daemon.tokens(home)
  return removeEach(print, ids, { noun: 'token', key: 'id', remove: (id) => tokens.revoke(id) })
}
