import { questionProcess } from '../core/approval/question.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { refusal } from '../core/refusal.ts'
import type { ActionParts, ActionsFor } from './action.ts'
import { checkJson } from './parse.ts'
import { registerAll, spawnAnswer } from './spawn.ts'

/** A reply is read by models and kept with the process. */
const MAX_REPLY_CHARS = 100_000

/** Questions to people, and their replies. */
export function questionActions({
  kernel,
  actor,
  commands,
  seat: { through },
}: ActionParts): ActionsFor<'ask' | 'reply'> {
  return {
    async ask({ question, choices, timeoutMs, person, priority, ...registration }) {
      const asked = questionProcess({ question, choices, timeoutMs, person, priority })
      const [registered] = await registerAll(kernel, commands, actor, [{ ...registration, ...asked }])
      const { type, record } = spawnAnswer(registered)
      // Without `ifRunning` no running process is an answer.
      return {
        type: type === 'existing' ? type : 'registered',
        record,
        approval: record.gate?.approval ?? '',
      }
    },
    async reply({ id, value }) {
      const answer = { type: 'reply', value: checkReply(value) } as const
      const settled = await kernel.approvals.answer({ id, by: actor, answer, through })
      if (settled.type === 'refused') throw new RefusedError(settled.refusal)
      return { type: settled.type, approval: settled.approval }
    },
  }
}

function checkReply(given: Json): Json {
  const value = checkJson(given, 'value')
  if (JSON.stringify(value).length <= MAX_REPLY_CHARS) return value
  throw new RefusedError(
    refusal(
      'payload_too_large',
      `The reply has more than ${MAX_REPLY_CHARS} characters.`,
      'Shorten it, or reply with the path of a file.',
    ),
  )
}
