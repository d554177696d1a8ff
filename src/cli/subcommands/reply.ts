import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { choiceOf } from '../agent/answer-here.ts'
import { refuseInside } from '../refuse-inside.ts'
import { settlementText } from '../settlement-text.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const reply = subcommand({
  name: 'reply',
  summary: 'Replies to a question of an agent',
  usage: ['reply <approval> <text>'],
  options: {},
  about:
    'The agent that waits for the reply goes on with your text. A question with choices takes one of them, or its number.',
  examples: [
    ['reeve reply a_7k3m9q2x4t8v "Use port 8080."', ''],
    ['reeve reply a_7k3m9q2x4t8v yes', 'one of the choices'],
    ['reeve reply a_7k3m9q2x4t8v 1', 'the first choice'],
  ],
  async run(context) {
    refuseInside(context, 'reeve reply')
    const { args, print } = context
    const [id, ...words] = args
    if (id === undefined || words.length === 0)
      throw new UsageError(
        'reeve reply needs the id of a question and a text.',
        'reeve approvals lists what you are asked.',
      )
    const reeve = await context.acting()
    const settled = await reeve.reply({ id, value: await replyIn(reeve, id, words.join(' ')) })
    if (print.isJson) print.json(settled)
    else print.line(settlementText(settled))
    return 0
  },
})

/** The text, or the choice whose number it is. */
async function replyIn(reeve: ReeveVerbs, id: string, text: string): Promise<string> {
  if (!/^\d+$/.test(text)) return text
  const { request } = (await reeve.approval({ id })).approval
  return request.type === 'question' ? (choiceOf(request.choices ?? [], text) ?? text) : text
}
