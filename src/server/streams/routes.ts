import type { Context, Hono } from 'hono'
import { ReeveError } from '../../core/errors.ts'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { fromWire } from '../../verbs/request.ts'
import type { AppParts, Env } from '../app.ts'
import { actingFor, callSignal, demand, viewOf } from '../caller.ts'
import { problemResponse } from '../problem.ts'
import { STREAM_TIMES, streamAnswer } from './answer.ts'
import { offsetText } from './asked.ts'
import { changeStream, eventStream } from './event-streams.ts'
import { inboxStream } from './inbox-stream.ts'
import { type OutputView, outputStream } from './output-stream.ts'
import type { Stream } from './stream.ts'

/** The streams that can be followed from any offset on. Nothing is written here. */
export function addStreams(app: Hono<Env>, { reeve, closing, streams }: AppParts): void {
  const position = () => reeve.position()
  const times = { ...STREAM_TIMES, ...streams }
  const serve = (path: string, streamOf: (acting: ReeveVerbs, context: Context<Env>) => Stream) =>
    app.get(path, async (context) => {
      const { req } = context
      context.set('verb', 'stream')
      demand(context.get('caller'), 'read')
      const stream = streamOf(actingFor(reeve, context.get('caller')), context)
      const signal = AbortSignal.any([callSignal(context), closing])
      const whenSent = (done: () => void) => context.env.outgoing.once('close', done)
      try {
        return await streamAnswer(stream, req.raw, { times, signal, whenSent })
      } catch (error) {
        const goOnAt = behind(error)
        if (goOnAt === null) throw error
        return problemResponse(error, { 'Stream-Next-Offset': offsetText(goOnAt) })
      }
    })
  serve('/v1/processes/:pid/output/stream', (acting, context) =>
    outputStream(acting, context.req.param('pid') ?? '', viewIn(context)),
  )
  serve('/v1/processes/:pid/events/stream', (acting, context) =>
    eventStream(acting, position, context.req.param('pid') ?? '', isRevealed(context)),
  )
  serve('/v1/changes/stream', (acting, context) =>
    changeStream(acting, position, filterIn(context.req.query('filter')), isRevealed(context)),
  )
  serve('/v1/inbox/stream', (acting, { req }) => inboxStream(acting, position, req.query('scope')))
}

/** An admin may ask for secrets. */
function isRevealed(context: Context<Env>): boolean {
  const reveal = context.req.query('reveal') === 'true'
  if (reveal) demand(context.get('caller'), 'admin')
  return reveal
}

function viewIn(context: Context<Env>): OutputView {
  const [reveal, terminal] = ['reveal', 'terminal'].map((name) => context.req.query(name) === 'true')
  return viewOf(context.get('caller'), { reveal: reveal === true, terminal: terminal === true })
}

/** The offset after content that is no longer kept: a reader can continue there, and knows that it missed something. */
function behind(error: unknown): number | null {
  if (!(error instanceof ReeveError)) return null
  const { to, prunedThrough } = error.details
  const at = error.code === 'gap' ? to : error.code === 'behind_pruned' ? prunedThrough : null
  return typeof at === 'number' ? at : null
}

/** The verb refuses JSON that is not a filter. */
function filterIn(text: string | undefined): InputOf<'changes'>['filter'] {
  if (text === undefined) return undefined
  try {
    return fromWire(text) as InputOf<'changes'>['filter']
  } catch (error) {
    throw new ReeveError('bad_request', 'filter is not JSON.', 'Give a filter as a JSON object.', {
      cause: error,
    })
  }
}
