import type { InboxNotice, InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import type { Context } from '../context.ts'
import { neutralLine } from '../print/neutral.ts'
import { clockTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const TAIL = 50
const MOST = 1_000
/** How many beyond those that are shown are counted. */
const BEYOND = 100
/** Whose cursor `--ack` moves: that of people at a terminal, not that of an agent. */
const CONSUMER = 'cli'

export const inbox = subcommand({
  name: 'inbox',
  summary: 'Shows what you or a session were told, goes on with -f, and acknowledges with --ack',
  usage: ['inbox [options] [session]'],
  options: {
    follow: { type: 'flag', short: 'f', about: 'go on as they come' },
    process: { type: 'text', value: 'pid', about: 'what this process was told of its children, instead' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'count',
      about: `so many at most: the last ones, or with --new the first; ${TAIL} unless it says otherwise`,
    },
    all: { type: 'flag', short: 'a', about: 'with those that somebody has dealt with' },
    consumer: {
      type: 'text',
      value: 'name',
      about: `whose reading it is; ${CONSUMER} unless it says otherwise`,
    },
    new: { type: 'flag', about: 'only what this consumer has not acknowledged' },
    ack: { type: 'flag', about: 'acknowledge what is shown: it is not shown as new again; implies --new' },
    done: { type: 'texts', value: 'place', about: 'acknowledge this one, for everybody' },
    raw: { type: 'flag', about: 'with all escape sequences, not colours alone' },
  },
  about: `
A session is told when its processes end, are ready, or print a line that is watched for; you are told of commands that belong
to none and ask for it, as reeve run -d does. Reading changes nothing. --ack moves the cursor of a consumer of your own; --done says
that a notice has been dealt with, so that nobody is told any more.

Without a session, the one of --as is meant, else what you are told yourself.`,
  examples: [
    ['reeve inbox --ack', 'what you were told since last time'],
    ['reeve inbox s1', 'the last notices of a session'],
    ['reeve inbox s1 -f', 'as they come'],
    ['reeve inbox s1 --ack', 'what came since last time'],
    ['reeve inbox s1 --done 12', 'nobody need be told of it any more'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'inbox' }, 1)
    const { options, print } = context
    const reeve = await context.acting()
    const scope = await scopeOf(context, reeve)
    const consumer = options.consumer ?? CONSUMER
    if (options.done.length > 0) return settle(context, reeve, { scope, consumer })
    const isNew = options.new || options.ack
    const most = Math.min(options.tail ?? TAIL, MOST)
    const about: InputOf<'notices'> = {
      scope,
      limit: Math.min(most + BEYOND, MOST),
      ...(isNew ? { consumer } : { newest: true }),
      ...(options.all ? { all: true } : {}),
    }
    const { notices: found, next: behind, more } = await reeve.notices(about)
    if (found.length === 0) await refuseUnknown(reeve, scope)
    const notices = isNew ? found.slice(0, most) : found.slice(-most)
    if (options.follow || !print.isJson) for (const notice of notices) show(context, notice)
    else print.jsonList(notices)
    const next = isNew ? (notices.at(-1)?.place ?? behind) : behind
    const rest = found.length - notices.length
    const isLeast = more || found.length === about.limit
    if (rest > 0 && !(options.follow && isNew))
      print.aside(
        `${isLeast ? 'at least ' : ''}${rest} ${isNew ? 'more' : 'more before these'}: ${howToSee(options.ack)}`,
      )
    const ack = (through: number) => reeve.acknowledge({ scope, consumer, through })
    if (options.ack && notices.length > 0) await ack(next)
    if (!options.follow) return 0
    for await (const notice of reeve.inbox({ scope, after: next })) {
      show(context, notice)
      if (options.ack) await ack(notice.place)
    }
    return 0
  },
})

/** An inbox that nobody has is empty, too: whoever names a session that is not there would wait for ever. */
async function refuseUnknown(reeve: ReeveVerbs, scope: string): Promise<void> {
  if (scope.startsWith('session:')) await reeve.budget({ session: scope.slice('session:'.length) })
}

function howToSee(isAcknowledged: boolean): string {
  return isAcknowledged ? 'the same again goes on.' : '-n shows them.'
}

/** Says for everybody that these have been dealt with. */
async function settle(
  { options, print }: Context<{ readonly done: readonly string[] }>,
  reeve: ReeveVerbs,
  { scope, consumer }: { readonly scope: string; readonly consumer: string },
): Promise<number> {
  const places = options.done.map(placeIn)
  await refuseUnknown(reeve, scope)
  const answer = await reeve.acknowledge({ scope, consumer, places })
  const { acknowledged, lost } = answer
  const missing = places.filter((place) => !acknowledged.includes(place) && !lost.includes(place))
  if (print.isJson) print.json(answer)
  if (!print.isJson && lost.length > 0)
    print.failure({
      message: `Another consumer has taken ${lost.join(', ')}.`,
      remedy: 'Wait until its time is up, or let it acknowledge them.',
    })
  if (!print.isJson && missing.length > 0)
    print.failure({
      message: `There is no notice ${missing.join(', ')} of ${scope}.`,
      remedy: 'reeve inbox shows the number of each before it.',
    })
  return lost.length + missing.length > 0 ? 1 : 0
}

function placeIn(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(
    `--done was given ${text}.`,
    'It takes the number before a notice: reeve inbox s1 --done 12',
  )
}

async function scopeOf(
  { args, options }: Context<{ readonly process: string | undefined }>,
  reeve: ReeveVerbs,
): Promise<string> {
  const [session] = args
  if (options.process !== undefined) return `process:${(await reeve.show({ pid: options.process })).pid}`
  if (session !== undefined) return session.startsWith('session:') ? session : `session:${session}`
  const { actor } = await reeve.whoami()
  return actor === 'host' ? 'human:host' : actor
}

function show({ print, options }: Context<{ readonly raw: boolean }>, notice: InboxNotice): void {
  if (print.isJson) {
    print.jsonLine(notice)
    return
  }
  const { dim, cyan } = print.colours
  print.line(`${dim(`${String(notice.place).padStart(5)}  ${clockTime(notice.at)}`)}  ${cyan(notice.kind)}`)
  for (const line of notice.text.split('\n')) {
    if (options.raw) print.rawLine(`       ${line}`)
    else print.line(`       ${neutralLine(line)}`)
  }
}
