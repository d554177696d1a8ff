import { didYouMean } from '../../base/nearest-name.ts'
import { isInsideProgram } from '../../os/program-marks.ts'
import type { Context } from '../context.ts'
import { DENIED } from '../exit-code.ts'
import { ago } from '../print/times.ts'
import { readSecret } from '../read-secret.ts'
import { removeEach } from '../remove-each.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['set', 'list', 'rm']

/** Shorter values, and values with stars in them, occur in ordinary text: they are not masked. */
const MIN_MASKED_CHARS = 8

export const secret = subcommand({
  name: 'secret',
  summary: 'Sets, lists and removes secrets that processes get by name',
  usage: ['secret set <name>', 'secret list', 'secret rm <name>…'],
  completes: ACTIONS,
  options: {},
  about: `
You type the value at the terminal, without echo, or pipe it into standard input. It is kept in secrets.json in the home, which only
you can read. The store, events and logs contain only the name, and output is shown with the value masked. A process gets it with
reeve run --secret <name>. This subcommand does not run inside a Reeve process.`,
  examples: [
    ['reeve secret set NPM_TOKEN', 'asks for the value'],
    ['pass show npm | reeve secret set NPM_TOKEN', 'from a password manager'],
    ['reeve run --secret NPM_TOKEN -- npm publish', 'as the variable NPM_TOKEN'],
  ],
  async run(context) {
    const { args, around, print } = context
    if (isInsideProgram(around.env)) {
      print.failure({
        code: 'denied',
        message: 'Secrets are not set inside a Reeve process.',
        remedy: 'Run reeve secret in a terminal of your own.',
      })
      return DENIED
    }
    if (context.url !== undefined)
      throw new UsageError(
        'Secrets are set on the machine of the daemon, not through its address.',
        'Run reeve secret there, without --url and REEVE_URL.',
      )
    const [action = 'list', ...rest] = args
    if (action === 'set') return set(context, rest)
    if (action === 'list') return list(context, rest)
    if (action === 'rm' || action === 'remove') return remove(context, rest)
    throw new UsageError(
      `reeve secret does not know ${action}.${didYouMean(action, ACTIONS)}`,
      'It knows set, list and rm.',
    )
  },
})

async function set(context: Context, [name, ...rest]: readonly string[]): Promise<number> {
  const { around, daemon, home, print } = context
  if (name === undefined)
    throw new UsageError('reeve secret set needs a name.', 'For example: reeve secret set NPM_TOKEN')
  if (rest.length > 0 || name.includes('='))
    throw new UsageError(
      'reeve secret set takes a name alone: other users can read the arguments of a program.',
      `Run reeve secret set ${name.split('=')[0]}, and type the value or pipe it in.`,
    )
  const secrets = await daemon.secrets(home)
  const value = await readSecret(around, name)
  const answer = await secrets.set(name, value)
  if (print.isJson) print.json({ name, answer })
  else if (value.length < MIN_MASKED_CHARS || value.includes('*'))
    print.aside(`${name} is set. Its value is too short, or has stars in it: it is not masked in output.`)
  else if (around.stderr.isTTY) print.aside(answer === 'set' ? `${name} is set.` : `${name} is replaced.`)
  return 0
}

async function list(context: Context, rest: readonly string[]): Promise<number> {
  const { daemon, home, print } = context
  if (rest.length > 0)
    throw new UsageError(`reeve secret list was given ${rest.join(' ')}.`, 'It takes no arguments.')
  const secrets = await (await daemon.secrets(home)).list()
  if (print.isJson) print.jsonList(secrets)
  else
    print.table(
      [{ title: 'NAME', flexible: true }, { title: 'SET' }],
      secrets.map(({ name, setAt }) => [
        { text: name, paint: print.colours.bold },
        { text: ago(setAt, Date.now()), paint: print.colours.dim },
      ]),
    )
  return 0
}

async function remove(context: Context, names: readonly string[]): Promise<number> {
  const { daemon, home, print } = context
  if (names.length === 0)
    throw new UsageError('reeve secret rm needs a name.', 'Run reeve secret list to see them.')
  const secrets = await daemon.secrets(home)
  return removeEach(print, names, { noun: 'secret', key: 'name', remove: (name) => secrets.remove(name) })
}
