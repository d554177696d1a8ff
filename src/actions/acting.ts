import * as z from 'zod'
import { answererOf, EMBEDDING_PROGRAM, type Seat } from '../core/authority/person.ts'
import { RefusedError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { kernelClosed } from '../kernel/wait.ts'
import { followAgent } from '../verbs/follow-agent.ts'
import { followInbox } from '../verbs/follow-inbox.ts'
import { type CallOptions, type ReeveVerbs, verbs } from '../verbs/reeve.ts'
import { filter } from '../verbs/shapes/filter.ts'
import { consumer, scope } from '../verbs/shapes/notice.ts'
import { count, duration, processRef, turnId } from '../verbs/shapes/scalars.ts'
import { SCROLLBACK_BYTES } from '../verbs/shapes/scrollback.ts'
import type { Verb } from '../verbs/verb.ts'
import type { ActionParts } from './action.ts'
import { actionsOf } from './actions.ts'
import { attach, followLog } from './attach.ts'
import { followChanges } from './changes.ts'
import type { AnswerMasker } from './mask-answers.ts'
import { parse } from './parse.ts'
import { effectsFor, onlyObserves, type ReadEffects } from './read-effects.ts'
import { revealRequest } from './reveal.ts'

/** The parts that all actors share. */
export interface ActingParts extends Omit<ActionParts, 'actor' | 'seat' | 'effects' | 'masker'> {
  readonly masker: AnswerMasker
}

/** The verbs on behalf of `actor`. Every answer and every error leaves through here, and secrets are masked on the way. */
export function acting(
  parts: ActingParts,
  actor: Actor,
  seat: Seat = EMBEDDING_PROGRAM,
  effects: ReadEffects = effectsFor(parts.kernel, actor),
): ReeveVerbs {
  const { kernel, commands, masker, reveals } = parts
  const actions = tableOf({ ...parts, actor, seat, effects })
  const answerer = answererOf(actor, seat)
  const asAnswerer =
    answerer === null || answerer === actor ? actions : tableOf({ ...parts, actor: answerer, seat, effects })
  const calls = Object.entries(verbs).map(([name, verb]: [string, Verb]) => [
    name,
    async (given: unknown, options: CallOptions = {}) => {
      const { input, needs, masking, showsMany, asPerson } = verb
      const act = (asPerson === undefined ? actions : asAnswerer)[name]
      if (kernel.isClosed) throw kernelClosed()
      try {
        if (!effects.areKept && needs !== 'read') throw new RefusedError(onlyObserves(actor, name))
        const needsPerson = asPerson === 'required' || (asPerson === 'if_known' && seat.mayBeProgram === true)
        if (needsPerson && answerer === null) throw new RefusedError(personRequired(name))
        const parsed = parse(input, given ?? {}, name)
        if (!isRevealed(parsed)) {
          const shown = await masker.answer(await act?.(parsed, options), masking)
          return checkAnswer(name, verb, shown)
        }
        const request = revealRequest(actor, name, options)
        await reveals.permit(request)
        const answer = await act?.(parsed, options)
        if (showsMany === true) await reveals.noteAll(request, await masker.secretsIn(answer))
        return checkAnswer(name, verb, answer)
      } catch (error) {
        throw await masker.error(error)
      }
    },
  ])
  const called = Object.fromEntries(calls) as Omit<
    ReeveVerbs,
    'kernel' | 'follow' | 'followOutput' | 'followAgent' | 'inbox' | 'attach'
  >
  const streams: Pick<ReeveVerbs, 'follow' | 'followOutput'> = {
    follow: async function* (given = {}, options = {}) {
      yield* followChanges({ kernel, masker, reveals }, actor, parse(FOLLOW, given, 'follow'), options)
    },
    followOutput: (given, options = {}) =>
      followLog(
        kernel,
        actor,
        commands,
        reveals,
        called,
        parse(FOLLOW_OUTPUT, given, 'followOutput'),
        options,
      ),
  }
  return {
    ...called,
    ...streams,
    get kernel() {
      return kernel.id
    },
    followAgent: (given, options = {}) =>
      followAgent({ ...called, ...streams }, parse(FOLLOW_AGENT, given, 'followAgent'), options),
    inbox: (given, options = {}) => followInbox(called, parse(FOLLOW_INBOX, given, 'inbox'), options),
    attach: async (given, options = {}) =>
      attach(kernel, actor, commands, called, parse(ATTACH, given, 'attach'), options),
  }
}

type Act = (input: unknown, options: CallOptions) => Promise<unknown>

function tableOf(parts: ActionParts): Readonly<Record<string, Act>> {
  return actionsOf(parts) as Readonly<Record<string, Act>>
}

function personRequired(name: string): Refusal {
  return refusal(
    'person_required',
    `${name} is for people, and this client does not say who calls.`,
    'Use a token that names a person (reeve token create --person <name>), or the socket from outside of a Reeve process.',
  )
}

const FOLLOW_OUTPUT = z.strictObject({
  pid: processRef,
  offset: count.default(0),
  reveal: z.boolean().default(false),
  terminal: z.boolean().default(false),
})
const FOLLOW_AGENT = z.strictObject({
  pid: processRef,
  from: count.exactOptional(),
  offset: count.exactOptional(),
  last: z.number().int().min(1).max(1_000).exactOptional(),
  blobs: z.boolean().exactOptional(),
})
const ATTACH = z.strictObject({ pid: processRef, scrollback: count.default(SCROLLBACK_BYTES) })
const FOLLOW_INBOX = z.strictObject({
  scope,
  consumer: consumer.exactOptional(),
  after: count.exactOptional(),
  take: z.strictObject({ visibilityMs: duration.min(1).exactOptional() }).exactOptional(),
  turn: turnId.exactOptional(),
})
const FOLLOW = z.strictObject({
  after: z.number().int().nonnegative().default(0),
  filter: filter.exactOptional(),
  reveal: z.boolean().default(false),
})

function isRevealed(parsed: unknown): boolean {
  return (parsed as { readonly reveal?: boolean }).reveal === true
}

/** Set in tests, also for the daemons that they start. An answer that does not fit its verb's schema is then an error. */
const isChecked = process.env['REEVE_CHECK_ANSWERS'] === '1'

/** Every answer of every verb passes here. Parsing costs time, so only tests do it. */
function checkAnswer(name: string, { output }: Pick<Verb, 'output'>, answer: unknown): unknown {
  if (!isChecked) return answer
  const parsed = output.safeParse(answer)
  if (parsed.success) return answer
  throw new Error(`The answer of ${name} does not fit its schema: ${z.prettifyError(parsed.error)}`)
}
