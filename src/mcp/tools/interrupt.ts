import * as z from 'zod'
import { interrupt as verb } from '../../verbs/interrupt.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { unlisted } from '../input-schema.ts'
import { cut, fitting } from '../page.ts'
import { tool } from '../tool.ts'

const { reason, tree } = verb.input.shape

export const interrupt = tool({
  name: 'interrupt',
  title: 'Interrupt processes',
  description: [
    'Asks a process to stop, as Ctrl-C does, or with all: true every process of your session; kills those that do not',
    'stop. To see how one ended use process_kill.',
  ].join(' '),
  searchHint: 'interrupt, Ctrl-C, stop everything, stop all processes',
  input: z
    .strictObject({
      pid: processRef.exactOptional().describe('pid or name'),
      all: z.boolean().default(false).describe('or every process of your session'),
      tree: unlisted(tree),
      reason: unlisted(reason),
    })
    .refine(
      ({ pid, all }) => (pid !== undefined) !== all,
      'give either pid, or all: true for every process of your session',
    ),
  effect: 'end',
  async run({ pid, tree: whole, reason: why }, { perform }) {
    const { report, asked } = await perform(async (acting, session) => {
      const scope = pid === undefined ? { session } : { pid: (await acting.show({ pid })).pid }
      const done = await acting.interrupt({
        scope,
        tree: whole,
        ...(why === undefined ? {} : { reason: why }),
      })
      const shownPids = done.signalled.slice(0, MAX_NAMED)
      return { report: done, asked: await Promise.all(shownPids.map((one) => withName(acting, one))) }
    })
    const { matched, signalled, alreadyEnded, stale, unrecorded = [], recorded = [], failed } = report
    const failures = fitting(
      failed.map((one) => ({ ...one, message: cut(one.message, MAX_MESSAGE_CHARS) })),
      (one) => JSON.stringify(one).length + 1,
      MAX_FAILED_CHARS,
    )
    const notShown = failed.length - failures.length
    const text = [
      ...(signalled.length === 0
        ? []
        : [`Asked to stop: ${listOf(asked, signalled.length)}.`, 'Next: process_wait shows how each ended.']),
      ...(pid === undefined && matched === alreadyEnded.length
        ? ['No process of your session is running.']
        : []),
      ...(alreadyEnded.length === 0 ? [] : [`Had ended before: ${named(alreadyEnded)}`]),
      ...(unrecorded.length === 0
        ? []
        : [`Stopped, but not recorded yet, because the store cannot be written: ${named(unrecorded)}`]),
      ...(recorded.length === 0 ? [] : [`Stop recorded, but Reeve cannot reach it: ${named(recorded)}`]),
      ...(stale.length === 0 ? [] : [`Status unknown: ${named(stale)}`]),
      ...failures.map(({ pid: which, message }) => `${which}: ${message}`),
      ...(notShown === 0 ? [] : [`${notShown} more could not be interrupted.`]),
    ].join('\n')
    const lists = { signalled, alreadyEnded, stale, unrecorded, recorded }
    const shown = Object.fromEntries(
      Object.entries(lists).map(([list, pids]) => [list, pids.slice(0, MAX_NAMED)]),
    )
    const leftOut = Object.values(lists).reduce(
      (sum, pids) => sum + Math.max(0, pids.length - MAX_NAMED),
      notShown,
    )
    return { structured: { matched, ...shown, failed: failures, leftOut }, text }
  },
})

/** Per list of pids. */
const MAX_NAMED = 20
const MAX_MESSAGE_CHARS = 300
const MAX_FAILED_CHARS = 2_000

function named(pids: readonly string[]): string {
  return listOf(pids.slice(0, MAX_NAMED), pids.length)
}

function listOf(shown: readonly string[], total: number): string {
  const rest = total - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

async function withName(acting: ReeveVerbs, pid: string): Promise<string> {
  const { name } = await acting.show({ pid })
  return name === null ? pid : `${pid} (${name})`
}
