import { randomUUID } from 'node:crypto'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { keyBytes } from '../keys.ts'
import { pumpInput } from '../pump-input.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

type SignalValue = InputOf<'send'>['value']

export const send = subcommand({
  name: 'send',
  summary: 'Types into a command, or sends a process a named signal',
  usage: [
    'send [options] <process> <text>…',
    'send <process> -',
    'send --signal <name> [--value <json>] <process>',
  ],
  completes: 'live process',
  options: {
    'no-enter': { type: 'flag', short: 'n', about: 'do not press Enter after the text' },
    key: {
      type: 'texts',
      short: 'k',
      value: 'key',
      about: 'press this key after the text: enter, tab, esc, up, ctrl-c …; repeatable',
    },
    eof: { type: 'flag', about: 'then end the input; in a terminal, Ctrl-D' },
    signal: { type: 'text', value: 'name', about: 'send a named signal to a process that waits for one' },
    value: { type: 'text', value: 'json', about: 'the value of the signal' },
  },
  about: 'Enter is pressed after the text, unless you give -n or -k. A single - sends standard input.',
  examples: [
    ['reeve send shell "make test"', 'a line'],
    ['reeve send -k ctrl-c shell', 'a key'],
    ['reeve send --signal approved --value \'{"by":"me"}\' release', 'a named signal'],
  ],
  async run(context) {
    const [pid, ...texts] = context.args
    if (pid === undefined)
      throw new UsageError('reeve send needs a process.', 'For example: reeve send shell "ls -l"')
    const reeve = await context.acting()
    return context.options.signal === undefined
      ? type(context, reeve, pid, texts)
      : notify(context, reeve, pid, texts)
  },
})

interface SendOptions {
  readonly 'no-enter': boolean
  readonly key: readonly string[]
  readonly eof: boolean
  readonly signal: string | undefined
  readonly value: string | undefined
}

async function type(context: Context<SendOptions>, reeve: ReeveVerbs, pid: string, texts: readonly string[]) {
  const { options, print, around } = context
  if (texts.length === 0 && options.key.length === 0 && !options.eof)
    throw new UsageError('There is nothing to send.', 'Give a text, a key (-k ctrl-c), or --eof.')
  let answer: unknown = {}
  if (texts.length === 1 && texts[0] === '-') {
    await pumpInput(reeve, pid, around.stdin, { sole: false })
  } else if (texts.length > 0 || options.key.length > 0) {
    const keys = options.key.map(keyBytes).join('')
    const text = texts.join(' ')
    const enter = !options['no-enter'] && options.key.length === 0
    answer = enter ? await reeve.submit({ pid, text }) : await reeve.write({ pid, text: text + keys })
  }
  if (options.eof) await reeve.closeInput({ pid })
  if (print.isJson) print.json(answer)
  return 0
}

async function notify(
  context: Context<SendOptions>,
  reeve: ReeveVerbs,
  pid: string,
  texts: readonly string[],
) {
  const { options, print } = context
  if (texts.length > 0)
    throw new UsageError('A named signal takes no text.', 'Give its value with --value, as JSON.')
  const value = options.value === undefined ? {} : { value: valueIn(options.value) }
  const answer = await reeve.send({ pid, name: options.signal ?? '', ...value, id: randomUUID() })
  if (print.isJson) print.json(answer)
  return 0
}

function valueIn(text: string): SignalValue {
  try {
    return JSON.parse(text) as SignalValue
  } catch {
    throw new UsageError(
      `--value was given ${text}, which is not JSON.`,
      `A text needs its own quotes: --value '"${text}"'`,
    )
  }
}
