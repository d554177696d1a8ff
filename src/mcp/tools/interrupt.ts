import * as z from 'zod'
import { interrupt as verb } from '../../verbs/interrupt.ts'
import { tool } from '../tool.ts'

const { scope, reason, tree } = verb.input.shape
const { pid, turn, toolCall } = scope.shape

export const interrupt = tool({
  name: 'interrupt',
  title: 'Interrupt processes',
  description: [
    'Asks processes of yours to stop, as Ctrl-C does: all of them, or one with pid, or those of a turn or tool call.',
    'Those that do not stop are forced after a grace. To end one for certain, and see how it ended, use process_kill.',
  ].join(' '),
  input: z.strictObject({ pid, turn, toolCall, tree, reason }),
  output: verb.output,
  does: 'end',
  async run({ tree: whole, reason: why, ...selected }, { perform }) {
    const report = await perform((acting, session) =>
      acting.interrupt({
        scope: { ...selected, session },
        tree: whole,
        ...(why === undefined ? {} : { reason: why }),
      }),
    )
    const { matched, signalled, alreadyEnded, stale, failed } = report
    const text = [
      `${matched} matched, ${signalled.length} asked to stop.`,
      ...(alreadyEnded.length === 0 ? [] : [`Had ended before: ${alreadyEnded.join(', ')}`]),
      ...(stale.length === 0 ? [] : [`Nobody knows whether they still run: ${stale.join(', ')}`]),
      ...failed.map(({ pid: which, message }) => `${which}: ${message}`),
    ].join('\n')
    return { structured: report, text }
  },
})
