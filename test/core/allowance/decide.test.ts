import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Account,
  type AccountId,
  leftOf,
  newAccount,
  remainderOf,
  spentOf,
} from '../../../src/core/allowance/account.ts'
import { type Amounts, COUNTED, minus, plus } from '../../../src/core/allowance/amounts.ts'
import { book, charge, decideCarve, receive, settle } from '../../../src/core/allowance/decide.ts'
import type { Kind } from '../../../src/core/process/record.ts'

const ROOT = account('process:p_root', { toolCalls: 100, cost: 1, children: 50 })

test('a child without a request gets half of the rest of each limit', () => {
  const { parent, given } = carve(ROOT, {})
  expect(given).toEqual({ toolCalls: 50, cost: 0.5, children: 24 })
  expect(remainderOf(parent)).toEqual({ toolCalls: 50, cost: 0.5, children: 25 })
})

test('half is not less than the floor, and the floor is not more than is left', () => {
  expect(carve(account('process:p_a', { toolCalls: 12 }), {}).given).toEqual({ toolCalls: 10 })
  expect(carve(account('process:p_a', { toolCalls: 3 }), {}).given).toEqual({ toolCalls: 3 })
  expect(carve(account('process:p_a', { toolCalls: 0 }), {}).given).toEqual({ toolCalls: 0 })
})

test('a child gets what it asks for, and a limit of its own where the parent has none', () => {
  const { parent, given } = carve(ROOT, { toolCalls: 7, tokensIn: 1_000 })
  expect(given).toEqual({ toolCalls: 7, tokensIn: 1_000, cost: 0.5, children: 24 })
  expect(parent.carved).toEqual({ toolCalls: 7, cost: 0.5, children: 24 })
})

test('more than is left is refused, by name', () => {
  const refused = decideCarve(
    ROOT,
    { toolCalls: 101 },
    { id: 'process:p_c', parent: null, root: null, session: null },
    'external',
  )
  expect(refused).toMatchObject({
    type: 'refuse',
    refusal: { code: 'limit_exceeded', details: { limit: 'toolCalls', left: 100, asked: 101 } },
  })
})

test('a tool process counts as a call of its parent, if calls are limited, and not as a child', () => {
  const { parent, given } = carve(ROOT, {}, 'tool')
  expect([given.toolCalls, parent.used]).toEqual([49, { toolCalls: 1 }])
  expect(carve(account('process:p_a', { cost: 1 }), {}, 'tool').parent.used).toEqual({})
  expect(carve(account('session:1:s1', { toolCalls: 9 }), {}, 'tool').parent.used).toEqual({
    children: 1,
    toolCalls: 1,
  })
  const none = account('process:p_a', { toolCalls: 0 })
  const ids = { id: 'process:p_c', parent: null, root: null, session: null } as const
  expect(decideCarve(none, {}, ids, 'tool')).toMatchObject({
    refusal: { code: 'limit_exceeded', details: { limit: 'toolCalls', left: 0, asked: 1 } },
  })
})

test('a tool process gets tokens and cost of its parent only if it asks for them', () => {
  const rich = account('process:p_a', { tokensIn: 90_000, tokensOut: 9_000, cost: 1, modelCalls: 20 })
  const { parent, given } = carve(rich, { cost: 0.25 }, 'tool')
  expect(given).toEqual({ tokensIn: 0, tokensOut: 0, cost: 0.25, modelCalls: 10 })
  expect(remainderOf(parent)).toEqual({ tokensIn: 90_000, tokensOut: 9_000, cost: 0.75, modelCalls: 10 })
  expect(carve(account('session:1:s1', { cost: 1 }), {}, 'tool').given).toEqual({ cost: 0.5 })
})

test('a child beyond the limit is refused', () => {
  const none = account('process:p_a', { children: 0 })
  expect(
    decideCarve(none, {}, { id: 'process:p_c', parent: null, root: null, session: null }, 'external'),
  ).toMatchObject({
    refusal: { details: { limit: 'children' } },
  })
})

test('without any limit there is no account', () => {
  expect(
    decideCarve(null, {}, { id: 'process:p_c', parent: null, root: null, session: null }, 'external'),
  ).toEqual({
    type: 'carved',
    parent: null,
    account: null,
  })
})

test('a charge beyond the limit is refused whole before the work', () => {
  expect(charge(ROOT, { cost: 0.1, toolCalls: 101 })).toMatchObject({
    type: 'refuse',
    refusal: { details: { limit: 'toolCalls' } },
  })
  expect(charge(ROOT, { toolCalls: 100, tokensOut: 5_000_000 })).toMatchObject({
    type: 'charged',
    over: null,
  })
})

test('work that is already done is charged beyond the limit, and the overrun is named', () => {
  const { account: booked, over } = book(ROOT, { toolCalls: 101 })
  expect(over).toBe('toolCalls')
  expect(remainderOf(booked)).toEqual({ toolCalls: 0, cost: 1, children: 50 })
  expect(charge(booked, { toolCalls: 1 }).type).toBe('refuse')
  expect(charge(booked, { cost: 1 }).type).toBe('charged')
})

test('sums of decimals have no rounding error', () => {
  let one = account('process:p_a', { cost: 1 })
  for (let time = 0; time < 1_000; time++) one = book(one, { cost: 0.001 }).account
  expect(leftOf(one, 'cost')).toBe(0)
})

test("in a tree, used and held amounts never exceed the root's allowance, except by work charged afterwards; unused amounts return at the end", () => {
  void fc.assert(
    fc.property(given, fc.array(step, { maxLength: 60 }), (rootGiven, steps) => {
      const tree = new Tree(rootGiven)
      for (const one of steps) {
        tree.take(one)
        tree.check()
      }
      tree.endAll()
      tree.check()
      const root = tree.at(0)
      expect(Object.values(root.carved).filter((amount) => amount !== 0)).toEqual([])
      for (const name of COUNTED) {
        expect(spentOf(root)[name] ?? 0).toBeCloseTo(tree.charged[name] ?? 0, 5)
        const limit = root.given[name]
        if (limit !== undefined) expect(leftOf(root, name)).toBeCloseTo(limit - (tree.charged[name] ?? 0), 5)
      }
    }),
  )
})

type Step =
  | { readonly do: 'spawn'; readonly of: number; readonly asked: Amounts }
  | { readonly do: 'charge'; readonly of: number; readonly amounts: Amounts }
  | { readonly do: 'work'; readonly of: number; readonly amounts: Amounts }
  | { readonly do: 'end'; readonly of: number }

const amount = fc.integer({ min: 0, max: 120 })
const given: fc.Arbitrary<Amounts> = fc.record(
  {
    toolCalls: amount,
    tokensIn: fc.integer({ min: 0, max: 100_000 }),
    cost: amount.map((n) => n / 1_000),
    children: amount,
  },
  { requiredKeys: [] },
)
const of = fc.nat({ max: 30 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('spawn' as const), of, asked: fc.oneof(fc.constant({}), given) }),
  fc.record({ do: fc.constant('charge' as const), of, amounts: given }),
  fc.record({ do: fc.constant('work' as const), of, amounts: given }),
  fc.record({ do: fc.constant('end' as const), of }),
)

/** A tree of accounts without a store: applies a list of steps with the deciders. A child may outlive its parent. */
class Tree {
  readonly accounts = new Map<AccountId, Account>()
  charged: Amounts = {}
  /** Charges for work that was already done, beyond the rest. */
  over: Amounts = {}
  readonly #ended = new Set<AccountId>()

  constructor(rootGiven: Amounts) {
    this.#put(account('process:p_0', rootGiven))
  }

  at(index: number): Account {
    const found = [...this.accounts.values()][index % this.accounts.size]
    if (found === undefined) throw new Error('an empty tree')
    return found
  }

  take(one: Step): void {
    const subject = this.at(one.of)
    if (this.#ended.has(subject.id)) return
    if (one.do === 'end') this.#end(subject)
    else if (one.do === 'charge') {
      const charged = charge(subject, one.amounts)
      if (charged.type === 'refuse') return
      this.#put(charged.account)
      this.charged = plus(this.charged, one.amounts)
    } else if (one.do === 'work') {
      const { account: booked } = book(subject, one.amounts)
      this.#put(booked)
      this.charged = plus(this.charged, one.amounts)
      this.over = plus(this.over, minus(overdraftOf(booked), overdraftOf(subject)))
    } else {
      const id: AccountId = `process:p_${this.accounts.size}`
      const carved = decideCarve(
        subject,
        one.asked,
        { id, parent: subject.id, root: 'p_0', session: null },
        'external',
      )
      if (carved.type === 'refuse') return
      if (carved.parent !== null) this.#put(carved.parent)
      if (carved.account !== null) this.#put(carved.account)
      this.charged = plus(this.charged, { children: 1 })
    }
  }

  endAll(): void {
    for (const one of [...this.accounts.keys()]) {
      const now = this.accounts.get(one)
      if (now !== undefined && now.parent !== null && !this.#ended.has(one)) this.#end(now)
    }
  }

  check(): void {
    const all = [...this.accounts.values()]
    for (const one of all)
      for (const name of COUNTED) {
        const limit = one.given[name]
        if (limit === undefined) continue
        expect(leftOf(one, name), `${name} left of ${one.id}`).toBeGreaterThanOrEqual(
          -(this.over[name] ?? 0) - 1e-6,
        )
        const held = all
          .filter(({ parent }) => parent === one.id)
          .reduce((sum, child) => sum + ((child.settled ? child.carved[name] : child.given[name]) ?? 0), 0)
        expect(one.carved[name] ?? 0).toBeCloseTo(held, 5)
      }
    for (const name of COUNTED) {
      const limit = this.at(0).given[name]
      if (limit !== undefined)
        expect(this.charged[name] ?? 0).toBeLessThanOrEqual(limit + (this.over[name] ?? 0) + 1e-6)
    }
  }

  #end(subject: Account): void {
    this.#ended.add(subject.id)
    const { account: ended, returned } = settle(subject)
    if (ended.parent === null) return
    this.#put(ended)
    for (let id: AccountId | null = ended.parent; id !== null; ) {
      const above: Account | undefined = this.accounts.get(id)
      if (above === undefined) return
      this.#put(receive(above, returned))
      id = above.settled ? above.parent : null
    }
  }

  #put(one: Account): void {
    this.accounts.set(one.id, one)
  }
}

function overdraftOf(one: Account): Amounts {
  const names = COUNTED.filter((name) => one.given[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, Math.max(0, -leftOf(one, name))]))
}

function account(id: AccountId, limits: Amounts): Account {
  return newAccount({ id, parent: null, root: null, session: null }, limits)
}

function carve(parent: Account, asked: Amounts, kind: Kind = 'external') {
  const carved = decideCarve(
    parent,
    asked,
    {
      id: 'process:p_child',
      parent: null,
      root: null,
      session: null,
    },
    kind,
  )
  if (carved.type === 'refuse' || carved.parent === null || carved.account === null)
    throw new Error(JSON.stringify(carved))
  return { parent: carved.parent, given: carved.account.given }
}
