import type { Kind, ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { type Account, type KeyedCharge, leftOf, newAccount, sessionIn, spentOf } from './account.ts'
import {
  type Amounts,
  among,
  COUNTED,
  type Counted,
  exact,
  isSame,
  minus,
  plus,
  WITH_DECIMALS,
} from './amounts.ts'

/**
 * The minimum that a child gets if the parent has that much: with less it could do nothing useful. Without a minimum, halving
 * leaves nothing after some generations. The last generations get the whole rest, or nothing.
 */
const FLOOR: { readonly [name in Counted]: number } = {
  toolCalls: 10,
  modelCalls: 5,
  tokensIn: 20_000,
  tokensOut: 4_000,
  cost: 0.05,
  cpuSeconds: 10,
  outputBytes: 65_536,
  children: 0,
}
const COUNTED_BY_KEEPER: readonly Counted[] = ['cpuSeconds', 'outputBytes']
const ONE_CHILD: Amounts = { children: 1 }
const ONE_CALL: Amounts = { toolCalls: 1 }
/** A tool gets these only if it asks for them: the process that calls it works with them. */
const KEPT_BY_CALLER: readonly Counted[] = ['tokensIn', 'tokensOut', 'cost']

/** The kind of a new process, or that it is the job that keeps an agent's memory: neither a child nor a call of the agent. */
export type Registered = Kind | 'memory_job'

export type Carved =
  | {
      readonly type: 'carved'
      /** The giver's account with the child counted; null if it has none. */
      readonly parent: Account | null
      /** The child's account; null if nothing is limited. */
      readonly account: Account | null
    }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * The allowance of a new process. Of each limit of its parent it gets the requested amount, or half of the rest; a tool below
 * another process gets no tokens and no cost. With `shares` it gets one of so many equal parts instead of half. A limit that only the request names is its own, and is taken from no account.
 */
export function decideCarve(
  parent: Account | null,
  asked: Amounts,
  ids: Pick<Account, 'id' | 'parent' | 'root' | 'session'>,
  kind: Registered,
  shares?: number,
): Carved {
  if (parent?.settled === true) return { type: 'refuse', refusal: givenBack(parent) }
  const counted = parent === null ? null : charge(parent, chargeForRegistering(parent, kind))
  if (counted?.type === 'refuse') return counted
  const from = counted?.account ?? null
  const given: { [name in Counted]?: number } = {}
  for (const name of COUNTED) {
    const left = from === null ? Number.POSITIVE_INFINITY : leftOf(from, name)
    const isKept = from !== null && isCall(from, kind) && KEPT_BY_CALLER.includes(name)
    const share = isKept ? 0 : shares === undefined ? shareOf(name, left) : partOf(name, left, shares)
    const amount = asked[name] ?? (left === Number.POSITIVE_INFINITY ? undefined : share)
    if (amount === undefined) continue
    if (from !== null && amount > left && amount > 0)
      return { type: 'refuse', refusal: limitExceeded(from, name, amount) }
    given[name] = amount
  }
  const limited = Object.keys(given).length > 0
  return {
    type: 'carved',
    parent: from === null ? null : { ...from, carved: plus(from.carved, among(given, from.given)) },
    account: limited ? newAccount(ids, given) : null,
  }
}

export type CarvedForSession =
  | { readonly type: 'carved'; readonly giver: Account; readonly given: Amounts }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * The allowance of a session below one that has an allowance: of each limit of that one the requested amount, or half of the
 * rest, as for a process. A session is no child, and is not counted as one.
 */
export function decideCarveForSession(giver: Account, asked: Amounts): CarvedForSession {
  if (giver.settled) return { type: 'refuse', refusal: givenBack(giver) }
  const given: { [name in Counted]?: number } = {}
  for (const name of COUNTED) {
    const left = leftOf(giver, name)
    const amount = asked[name] ?? (left === Number.POSITIVE_INFINITY ? undefined : shareOf(name, left))
    if (amount === undefined) continue
    if (amount > left && amount > 0) return { type: 'refuse', refusal: limitExceeded(giver, name, amount) }
    given[name] = amount
  }
  return { type: 'carved', giver: { ...giver, carved: plus(giver.carved, among(given, giver.given)) }, given }
}

/** A tool process below another process is a call of that process, not a child. */
function isCall({ id }: Account, kind: Registered): boolean {
  return kind === 'tool' && id.startsWith('process:')
}

function chargeForRegistering(giver: Account, kind: Registered): Amounts {
  if (kind === 'memory_job') return {}
  const call = kind === 'tool' && giver.given.toolCalls !== undefined ? ONE_CALL : {}
  return isCall(giver, kind) ? call : plus(ONE_CHILD, call)
}

/** A command that may not print a byte, or may use no CPU time, cannot even begin. */
export function refuseIdle(kind: Kind, account: Account | null): Refusal | undefined {
  if (kind !== 'command' || account === null) return undefined
  const name = COUNTED_BY_KEEPER.find((one) => account.given[one] === 0)
  if (name === undefined) return undefined
  return refusal(
    'limit_exceeded',
    `limit:${name}${account.parent === null ? '' : ` of ${nameOf({ id: account.parent })}`}: nothing is left for a command, which cannot run without any.`,
    'Wait until other processes return what they hold, or begin with a larger allowance.',
    { limit: name, left: 0, asked: 0 },
  )
}

/** Its program has ended, and its end is being written. */
export function givenBack(account: Account): Refusal {
  return refusal(
    'already_ended',
    `${nameOf(account)} has ended, and has given its unused allowance back.`,
    'Charge its restart, or another process.',
  )
}

/** The requested amounts, capped at the parent's rest. */
export function fitting(asked: Amounts, parent: Account | null): Amounts {
  if (parent === null) return asked
  return Object.fromEntries(
    COUNTED.flatMap((name) => {
      const amount = asked[name]
      return amount === undefined ? [] : [[name, Math.max(0, Math.min(amount, leftOf(parent, name)))]]
    }),
  )
}

export type Charged =
  | {
      readonly type: 'charged'
      readonly account: Account
      /** The limit that it exceeds; null if none. */
      readonly over: Counted | null
    }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** The keeper of a command counts its output and CPU time, and charges them with the end. No caller may charge them again. */
export function refuseCharge({ kind, pid }: ProcessRecord, amounts: Amounts): Refusal | undefined {
  const counted = COUNTED_BY_KEEPER.find((name) => (amounts[name] ?? 0) > 0)
  if (kind !== 'command' || counted === undefined) return undefined
  return refusal(
    'invalid_input',
    `${counted} of the command ${pid} is counted by its keeper, and charged with its end.`,
    'Charge only its other amounts.',
    { limit: counted },
  )
}

/** Before the work: a charge beyond the limit is refused whole. */
export function charge(account: Account, amounts: Amounts): Charged {
  const short = COUNTED.find((name) => (amounts[name] ?? 0) > Math.max(0, leftOf(account, name)))
  if (short !== undefined)
    return { type: 'refuse', refusal: limitExceeded(account, short, amounts[short] ?? 0) }
  return { ...book(account, amounts), over: null }
}

/** After the work: it is booked even beyond the limit. */
export function book(account: Account, amounts: Amounts): Extract<Charged, { type: 'charged' }> {
  const booked = { ...account, used: plus(account.used, amounts) }
  const over = COUNTED.find((name) => (amounts[name] ?? 0) > 0 && leftOf(booked, name) < 0)
  return { type: 'charged', account: booked, over: over ?? null }
}

export type Repeated = 'new' | 'replayed' | { readonly type: 'refuse'; readonly refusal: Refusal }

/** Whether this charge was made before. Only the last charges are known. */
export function repeated(account: Account, { replayKey, amounts }: KeyedCharge): Repeated {
  const before = account.charges?.find((one) => one.replayKey === replayKey)
  if (before === undefined) return 'new'
  if (isSame(before.amounts, amounts)) return 'replayed'
  return {
    type: 'refuse',
    refusal: refusal(
      'replay_conflict',
      `${nameOf(account)} was charged for something else under the key ${replayKey}.`,
      'Use another key for another charge.',
    ),
  }
}

/** Enough for a caller that repeats a charge after a lost answer; an account stays small. */
const KEPT_CHARGES = 32

export function remember(account: Account, charged: KeyedCharge): Account {
  return { ...account, charges: [...(account.charges ?? []), charged].slice(-KEPT_CHARGES) }
}

/** The amounts that an account returns to the account above it. */
export interface Returned {
  /** The amounts that it no longer holds: all except those still carved for children. */
  readonly freed: Amounts
  readonly spent: Amounts
}

/** Closes the account of an ended process. Amounts carved for children stay carved until those children end. */
export function settle(account: Account): { readonly account: Account; readonly returned: Returned } {
  return {
    account: { ...account, settled: true },
    returned: { freed: minus(account.given, among(account.carved, account.given)), spent: spentOf(account) },
  }
}

/** Takes back a settled account: frees its unused amounts and counts the spent ones. */
export function receive(account: Account, { freed, spent }: Returned): Account {
  return {
    ...account,
    carved: minus(account.carved, among(freed, account.given)),
    below: plus(account.below, spent),
  }
}

/** Half of the rest, or the floor; never more than the rest. */
function shareOf(name: Counted, left: number): number {
  const half = WITH_DECIMALS.includes(name) ? exact(left / 2) : Math.floor(left / 2)
  return Math.max(0, Math.min(left, Math.max(half, FLOOR[name])))
}

function partOf(name: Counted, left: number, shares: number): number {
  return Math.max(0, WITH_DECIMALS.includes(name) ? exact(left / shares) : Math.floor(left / shares))
}

function limitExceeded(account: Account, name: Counted, asked: number): Refusal {
  const left = Math.max(0, leftOf(account, name))
  return refusal(
    'limit_exceeded',
    `limit:${name} of ${nameOf(account)}: ${left} left, and ${asked} asked for.`,
    'Ask for less, wait until other processes return what they hold, or begin with a larger allowance.',
    { limit: name, left, asked },
  )
}

function nameOf({ id }: Pick<Account, 'id'>): string {
  return id.startsWith('session:') ? `session ${sessionIn(id)}` : id.slice('process:'.length)
}
