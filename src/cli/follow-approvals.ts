import { positionOf } from '../client/connect.ts'
import { ReeveError } from '../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import type { Context } from './context.ts'
import { type Approval, howToAnswer, isAskedOf, pendingApprovals } from './pending-approvals.ts'
import { onOneLine } from './print/table.ts'
import { clockTime } from './print/times.ts'

type Event = OutputOf<'changes'>['events'][number]

const BELL = '\u0007'

/** Prints the pending approvals, then every new one, and how each is settled. */
export async function followApprovals(context: Context<object>, reeve: ReeveVerbs): Promise<void> {
  const { person, now } = await reeve.whoami()
  const follower = new Follower(context, now - Date.now())
  await reeve.list({ limit: 1 })
  // The position before the list: a request that comes meanwhile is in both, and shown once.
  const after = positionOf(reeve) ?? 0
  const { approvals } = await pendingApprovals(reeve)
  for (const approval of approvals) follower.asked(approval)
  if (approvals.length === 0) context.print.aside('No approval waits for an answer; new ones appear here.')
  try {
    for await (const event of reeve.follow({ after, filter: { status: 'any' } })) {
      const settled = settlementIn(event)
      if (settled !== null) follower.settled(settled)
      if (event.type !== 'approval_requested') continue
      const { approval: id } = event.payload as { readonly approval: string }
      const approval = await find(reeve, id)
      // Settled already: its event follows, and is about nothing that was shown.
      if (approval !== null && isAskedOf(approval, person)) follower.asked(approval)
    }
  } finally {
    follower.close()
  }
}

interface Settlement {
  /** Null: the process ended, which withdraws its approval. */
  readonly id: string | null
  readonly pid: string
  readonly at: number
  readonly how: string
  readonly by: string | null
  readonly advice: string | null
}

function settlementIn({ type, payload, pid, at }: Event): Settlement | null {
  if (type === 'approval_settled') {
    const {
      approval: id,
      how,
      by,
      advice = null,
    } = payload as {
      readonly approval: string
      readonly how: string
      readonly by: string
      readonly advice?: string
    }
    return { id, pid, at, how, by, advice }
  }
  return type === 'ended' ? { id: null, pid, at, how: 'withdrawn', by: null, advice: null } : null
}

class Follower {
  readonly #context: Context<object>
  /** How much the clock of the daemon is ahead. */
  readonly #aheadMs: number
  /** The shown approvals that are pending, with the timer of the bell. */
  readonly #pending = new Map<string, { readonly pid: string; readonly bell: NodeJS.Timeout | undefined }>()

  constructor(context: Context<object>, aheadMs: number) {
    this.#context = context
    this.#aheadMs = aheadMs
  }

  asked(approval: Approval): void {
    const { print, around } = this.#context
    const { id, pid, askedAt, pushAt } = approval
    if (this.#pending.has(id)) return
    // Most approvals are answered at once by a person who looks already.
    const inMs = Math.max(0, (pushAt ?? 0) - Date.now() - this.#aheadMs)
    const rings = around.stdout.isTTY === true && !print.isJson
    const bell = rings ? setTimeout(() => around.stdout.write(BELL), inMs) : undefined
    this.#pending.set(id, { pid, bell })
    if (print.isJson) {
      print.jsonLine({ type: 'asked', approval })
      return
    }
    const { dim, yellow, blue } = print.colours
    print.line(`${dim(clockTime(askedAt))}  ${blue(id)}  ${yellow('asked')}  ${onOneLine(whatOf(approval))}`)
    print.line(`  ${dim(howToAnswer(approval))}`)
  }

  /** Only approvals that were shown here: others are for other people. */
  settled(settlement: Settlement): void {
    const { print } = this.#context
    const id = settlement.id ?? [...this.#pending].find(([, { pid }]) => pid === settlement.pid)?.[0]
    const known = id === undefined ? undefined : this.#pending.get(id)
    if (id === undefined || known === undefined) return
    clearTimeout(known.bell)
    this.#pending.delete(id)
    const { how, by, advice, at, pid } = settlement
    if (print.isJson) {
      print.jsonLine({ type: 'settled', approval: id, pid, at, how, by, advice })
      return
    }
    const { dim, green, blue } = print.colours
    const said = `${how}${by === null ? '' : ` by ${by}`}${advice === null ? '' : `: ${advice}`}`
    print.line(`${dim(clockTime(at))}  ${blue(id)}  ${green(onOneLine(said))}`)
  }

  close(): void {
    for (const { bell } of this.#pending.values()) clearTimeout(bell)
  }
}

function whatOf({ request }: Approval): string {
  if (request.type === 'question') return `${request.subject}: ${request.text}`
  const why = request.justification === null ? '' : ` (${request.justification})`
  const doubt = request.doubt === undefined ? '' : `; the rule may apply: ${request.doubt}`
  return `${request.subject}: ${request.needs.join('; ')}${why}${doubt}`
}

/** A pending approval by its id. */
async function find(reeve: ReeveVerbs, id: string): Promise<Approval | null> {
  try {
    const { approval } = await reeve.approval({ id })
    return approval.state === 'pending' ? approval : null
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'approval_unknown') return null
    throw error
  }
}
