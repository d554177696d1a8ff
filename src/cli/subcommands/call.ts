import { didYouMean } from '../../base/nearest-name.ts'
import type { ReeveVerbs, VerbName } from '../../verbs/reeve.ts'
import { fromWire } from '../../verbs/request.ts'
import { routes } from '../../verbs/routes.ts'
import type { Context } from '../context.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const VERBS = Object.keys(routes)

export const call = subcommand({
  name: 'call',
  summary: 'Calls any verb with its input as JSON, and prints its answer as JSON',
  usage: ['call <verb> [<json> | <member>=<value>…]', 'call --schema <verb>', 'call'],
  completes: VERBS,
  options: { schema: { type: 'flag', about: 'print the input and output of the verb as JSON Schema' } },
  about: `
Without a verb, lists all verbs. A value that is not JSON is text: pid=web. If the JSON is -, it is read from standard input.`,
  examples: [
    ['reeve call usage pid=web', ''],
    ['reeve call spawn \'{"kind":"command","spec":{"run":"make"}}\'', ''],
    ['reeve call --schema wait', ''],
  ],
  async run(context) {
    const { args, print, options } = context
    const [name, ...given] = args
    if (name === undefined) return listVerbs(context)
    if (!isVerb(name))
      throw new UsageError(
        `There is no verb ${name}.${didYouMean(name, VERBS)}`,
        'reeve call lists all verbs.',
      )
    if (options.schema) {
      const { verbs } = await import('../../verbs/reeve.ts')
      const { summary, input, output, codes } = verbs[name]
      const schemaOf = (type: typeof input | typeof output, io: 'input' | 'output') =>
        type.toJSONSchema({ io, unrepresentable: 'any' })
      print.json({ summary, input: schemaOf(input, 'input'), output: schemaOf(output, 'output'), codes })
      return 0
    }
    const reeve = await context.acting()
    const act = reeve[name] as (input: unknown) => ReturnType<ReeveVerbs[VerbName]>
    print.json(await act(await inputFrom(context, given)))
    return 0
  },
})

async function listVerbs({ print }: Context<unknown>): Promise<number> {
  const { verbs } = await import('../../verbs/reeve.ts')
  const all = Object.entries(verbs).map(([name, { summary, route, needs }]) => ({
    name,
    summary,
    route,
    needs,
  }))
  if (print.isJson) print.jsonList(all)
  else
    print.table(
      [{ title: 'VERB' }, { title: 'WHAT IT DOES', flexible: true }],
      all.map(({ name, summary }) => [{ text: name, paint: print.colours.bold }, { text: summary }]),
    )
  return 0
}

function isVerb(name: string): name is VerbName {
  return Object.hasOwn(routes, name)
}

async function inputFrom({ around }: Context<unknown>, given: readonly string[]): Promise<unknown> {
  const [first] = given
  if (first === undefined) return {}
  if (first === '-') {
    const pieces: Buffer[] = []
    for await (const piece of around.stdin) pieces.push(piece as Buffer)
    return jsonIn(Buffer.concat(pieces).toString('utf8'))
  }
  if (first.startsWith('{')) return jsonIn(given.join(' '))
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new UsageError(`${text} is neither JSON nor member=value.`, 'For example: pid=web')
      return [text.slice(0, at), valueIn(text.slice(at + 1))]
    }),
  )
}

function jsonIn(text: string): unknown {
  try {
    return fromWire(text)
  } catch (error) {
    throw new UsageError(
      `The input is not JSON: ${(error as Error).message}.`,
      'Check the quotes: the shell removes one layer.',
    )
  }
}

function valueIn(text: string): unknown {
  try {
    return fromWire(text)
  } catch {
    return text
  }
}
