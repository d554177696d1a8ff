import { randomUUID } from 'node:crypto'
import type { InputOf } from '../../verbs/reeve.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

type MessageValue = InputOf<'sendMessage'>['value']

export const message = subcommand({
  name: 'message',
  summary: 'Sends a message to a process',
  usage: ['message [options] <process> <text>…', 'message --value <json> <process>'],
  completes: 'live process',
  options: {
    channel: { type: 'text', value: 'name', about: 'the channel, which the receiver selects by' },
    'correlation-id': { type: 'text', value: 'id', about: 'connects a request and its answers' },
    'reply-to': {
      type: 'text',
      value: 'scope',
      about: 'where an answer is expected: process:<pid>, session:<id> or human:<name>',
    },
    interrupt: { type: 'flag', about: 'ask the receiver to look at it before it goes on' },
    value: { type: 'text', value: 'json', about: 'the content as JSON, instead of a text' },
  },
  about: 'The message is in the inbox of the process until it receives it.',
  examples: [
    ['reeve message worker "look at the logs first"', 'a text'],
    ['reeve message --channel tasks --value \'{"id":7}\' worker', 'JSON, on a channel'],
  ],
  async run(context) {
    const { options, print } = context
    const [process, ...texts] = context.args
    if (process === undefined)
      throw new UsageError('reeve message needs a process.', 'For example: reeve message worker "hello"')
    if (texts.length > 0 === (options.value !== undefined))
      throw new UsageError('A message needs a text, or --value.', 'Give one of them.')
    const { channel, 'correlation-id': correlationId, 'reply-to': replyTo } = options
    const reeve = await context.acting()
    const answer = await reeve.sendMessage({
      to: `process:${process}`,
      value: options.value === undefined ? texts.join(' ') : valueIn(options.value),
      ...(channel === undefined ? {} : { channel }),
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(replyTo === undefined ? {} : { replyTo }),
      priority: options.interrupt ? 'interrupt' : 'normal',
      idempotencyKey: randomUUID(),
    })
    if (print.isJson) print.json(answer)
    return 0
  },
})

function valueIn(text: string): MessageValue {
  try {
    return JSON.parse(text) as MessageValue
  } catch {
    throw new UsageError(
      `--value was given ${text}, which is not JSON.`,
      'Give a text without --value: reeve message <process> <text>',
    )
  }
}
