import type { Context, Hono } from 'hono'
import { ReeveError } from '../../core/errors.ts'
import type { Acting, InputOf } from '../../verbs/reeve.ts'
import { fromWire } from '../../verbs/request.ts'
import type { AppParts, Env } from '../app.ts'
import { actingFor, demand } from '../caller.ts'
import { STREAM_TIMES, streamAnswer, streamHead } from './answer.ts'
import { askedOf } from './asked.ts'
import { changeStream, eventStream } from './event-streams.ts'
import { inboxStream } from './inbox-stream.ts'
import { type OutputView, outputStream } from './output-stream.ts'
import type { Stream } from './stream.ts'

/** What can be followed: it is caught up with from any offset, then comes as it is made. Nothing is written here. */
export function addStreams(app: Hono<Env>, { reeve, closing, streams }: AppParts): void {
  const position = () => reeve.position()
  const times = { ...STREAM_TIMES, ...streams }
  const serve = (path: string, streamOf: (acting: Acting, context: Context<Env>) => Stream) =>
    app.get(path, async (context) => {
      const { req } = context
      context.set('verb', 'stream')
      demand(context.get('caller'), 'read')
      const stream = streamOf(actingFor(reeve, context.get('caller')), context)
      if (req.method === 'HEAD') return streamHead(stream)
      const asked = askedOf(new URL(req.url).searchParams)
      const signal = AbortSignal.any([req.raw.signal, closing])
      return streamAnswer(stream, asked, times, signal, (done) => context.env.outgoing.once('close', done))
    })
  serve('/v1/processes/:pid/output/stream', (acting, context) =>
    outputStream(acting, context.req.param('pid') ?? '', viewIn(context)),
  )
  serve('/v1/processes/:pid/events/stream', (acting, { req }) =>
    eventStream(acting, position, req.param('pid') ?? ''),
  )
  serve('/v1/changes/stream', (acting, { req }) =>
    changeStream(acting, position, filterIn(req.query('filter'))),
  )
  serve('/v1/inbox/stream', (acting, { req }) => inboxStream(acting, position, req.query('scope')))
}

/** Secrets are shown to an admin who says so; a terminal is for whoever may type at it, too. */
function viewIn(context: Context<Env>): OutputView {
  const reveal = context.req.query('reveal') === 'true'
  const terminal = context.req.query('terminal') === 'true'
  if (reveal) demand(context.get('caller'), 'admin')
  if (terminal) demand(context.get('caller'), 'operate')
  return { ...(reveal ? { reveal } : {}), ...(terminal ? { terminal } : {}) }
}

/** What is no filter is refused by the verb that it is given to. */
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
