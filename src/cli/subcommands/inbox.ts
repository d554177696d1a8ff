import type { InboxNotice } from '../../verbs/follow-calls.ts'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import type { Context } from '../context.ts'
import { pendingApprovalsIfKnown, pendingText } from '../pending-approvals.ts'
import { neutralLine } from '../print/neutral.ts'
import { clockTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const TAIL = 50
const MAX_NOTICES = 1_000
/** How many notices beyond the shown ones are counted. */
const MAX_COUNTED_MORE = 100
/** The consumer whose cursor `--ack` moves: people at a terminal, not an agent. */
const CONSUMER = 'cli'

export const inbox = subcommand({
  name: 'inbox',
  summary: 'Shows the notices for you or for a session; -f follows, --ack acknowledges',
  usage: ['inbox [options] [session]'],
  options: {
    follow: { type: 'flag', short: 'f', about: 'follow new notices' },
    process: { type: 'text', value: 'pid', about: 'the inbox of this process: notices about its children' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'count',
      about: `how many at most: the last ones, or with --new the first; by default ${TAIL}`,
    },
    all: { type: 'flag', short: 'a', about: 'also notices that are marked as done' },
    consumer: {
      type: 'text',
      value: 'name',
      about: `the name of the reader; by default ${CONSUMER}`,
    },
    new: { type: 'flag', about: 'only notices that this consumer has not acknowledged' },
    ack: {
      type: 'flag',
      about: 'acknowledge the shown notices, so that they are no longer new; implies --new',
    },
    done: { type: 'texts', value: 'number', about: 'mark this notice as done, for all consumers' },
    raw: { type: 'flag', about: 'print all escape sequences, not only colours' },
  },
  about: `
A session gets a notice when one of its processes ends, is ready, or prints a watched line. You get those of commands that belong to
no session and ask for it, as reeve run -d does. Reading changes nothing. --ack moves the cursor of one consumer; --done marks a
notice as done for all of them.

Without a session, the inbox is that of --as, otherwise your own, with the approvals that wait for you above it. Messages to a person
are in human:<name>.`,
  examples: [
    ['reeve inbox --ack', 'your notices since last time'],
    ['reeve inbox s1', 'the last notices of a session'],
    ['reeve inbox human:ada', 'messages to ada'],
    ['reeve inbox s1 -f', 'follow them'],
    ['reeve inbox s1 --ack', 'those since last time'],
    ['reeve inbox s1 --done 12', 'mark one as done'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'inbox' }, 1)
    const { options, print } = context
    const reeve = await context.acting()
    const scope = await scopeOf(context, reeve)
    const consumer = options.consumer ?? CONSUMER
    if (scope.startsWith('human:') && !print.isJson) await showPending(context, reeve)
    if (options.done.length > 0) return markDone(context, reeve, { scope, consumer })
    const isNew = options.new || options.ack
    const most = Math.min(options.tail ?? TAIL, MAX_NOTICES)
    const about: InputOf<'notices'> = {
      scope,
      limit: Math.min(most + MAX_COUNTED_MORE, MAX_NOTICES),
      ...(isNew ? { consumer } : { newest: true }),
      ...(options.all ? { all: true } : {}),
    }
    const { notices: found, next: behind, more } = await reeve.notices(about)
    if (found.length === 0) await refuseUnknown(reeve, scope)
    const notices = isNew ? found.slice(0, most) : found.slice(-most)
    if (options.follow || !print.isJson) for (const notice of notices) show(context, notice)
    else print.jsonList(notices)
    const next = isNew ? (notices.at(-1)?.position ?? behind) : behind
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
      if (options.ack) await ack(notice.position)
    }
    return 0
  },
})

/** A person who reads the inbox wants to know first what waits for an answer. */
async function showPending({ print }: Context<object>, reeve: ReeveVerbs): Promise<void> {
  const waits = pendingText(await pendingApprovalsIfKnown(reeve))
  if (waits !== null) print.line(print.colours.yellow(waits))
}

/** The inbox of an unknown session is empty, too: following it would wait for ever. `budget` refuses an unknown session. */
async function refuseUnknown(reeve: ReeveVerbs, scope: string): Promise<void> {
  if (scope.startsWith('session:')) await reeve.budget({ session: scope.slice('session:'.length) })
}

function howToSee(isAcknowledged: boolean): string {
  return isAcknowledged ? 'run the same again for the next ones.' : '-n shows them.'
}

/** Marks notices as done for all consumers. */
async function markDone(
  { options, print }: Context<{ readonly done: readonly string[] }>,
  reeve: ReeveVerbs,
  { scope, consumer }: { readonly scope: string; readonly consumer: string },
): Promise<number> {
  const positions = options.done.map(positionIn)
  await refuseUnknown(reeve, scope)
  const answer = await reeve.acknowledge({ scope, consumer, positions })
  const { acknowledged, lost } = answer
  const missing = positions.filter((position) => !acknowledged.includes(position) && !lost.includes(position))
  if (print.isJson) print.json(answer)
  if (!print.isJson && lost.length > 0)
    print.failure({
      message: `Another consumer has claimed ${lost.join(', ')}.`,
      remedy: 'Wait until its claim expires, or let it acknowledge them.',
    })
  if (!print.isJson && missing.length > 0)
    print.failure({
      message: `There is no notice ${missing.join(', ')} of ${scope}.`,
      remedy: 'reeve inbox prints the number of each notice before it.',
    })
  return lost.length + missing.length > 0 ? 1 : 0
}

function positionIn(text: string): number {
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
  if (session !== undefined) return /^(session|human):/.test(session) ? session : `session:${session}`
  const { actor } = await reeve.whoami()
  return actor === 'host' ? 'human:host' : actor
}

function show({ print, options }: Context<{ readonly raw: boolean }>, notice: InboxNotice): void {
  if (print.isJson) {
    print.jsonLine(notice)
    return
  }
  const { dim, cyan } = print.colours
  print.line(
    `${dim(`${String(notice.position).padStart(5)}  ${clockTime(notice.at)}`)}  ${cyan(notice.kind)}`,
  )
  for (const line of notice.text.split('\n')) {
    if (options.raw) print.rawLine(`       ${line}`)
    else print.line(`       ${neutralLine(line)}`)
  }
}
