import { isObject } from '../../base/is-object.ts'

export const PLAN_STATUSES = ['pending', 'in_progress', 'done', 'dropped'] as const
type PlanStatus = (typeof PLAN_STATUSES)[number]

/** Enough for one goal; a longer plan is several goals. */
export const MAX_PLAN_ITEMS = 50
export const MAX_PLAN_ITEM_CHARS = 500

interface PlanItem {
  readonly text: string
  readonly status: PlanStatus
}

/** What an agent means to do, in order. */
export interface PlanList {
  readonly items: readonly PlanItem[]
}

export const EMPTY_PLAN: PlanList = { items: [] }

export type PlanChange =
  | { readonly type: 'replace'; readonly items: readonly PlanItem[] }
  | { readonly type: 'add'; readonly text: string; readonly after?: number | undefined }
  /** `item`: its number, from 1. */
  | { readonly type: 'set'; readonly item: number; readonly status?: PlanStatus; readonly text?: string }

export type PlanAnswer =
  | { readonly type: 'changed'; readonly plan: PlanList }
  | { readonly type: 'refused'; readonly reason: string }

/** Applies changes in order: all of them, or none. */
export function changePlan(plan: PlanList, changes: readonly PlanChange[]): PlanAnswer {
  let items = plan.items
  for (const change of changes) {
    const problem = problemOf(items, change)
    if (problem !== undefined) return { type: 'refused', reason: problem }
    items = applied(items, change)
  }
  if (items.length > MAX_PLAN_ITEMS)
    return {
      type: 'refused',
      reason: `A plan has at most ${MAX_PLAN_ITEMS} items; this one has ${items.length}.`,
    }
  return { type: 'changed', plan: { items } }
}

const MARKS: Record<PlanStatus, string> = { pending: '[ ]', in_progress: '[>]', done: '[x]', dropped: '[-]' }

/** The plan as a model and a person read it: one line for each item, with its number. */
export function planText({ items }: PlanList): string {
  if (items.length === 0) return 'The plan is empty.'
  const done = items.filter(({ status }) => status === 'done').length
  const left = items.filter(({ status }) => status === 'pending' || status === 'in_progress').length
  const lines = items.map(({ text, status }, index) => `${index + 1}. ${MARKS[status]} ${text}`)
  return [...lines, `(${done} done, ${left} left)`].join('\n')
}

/** The plan in such a text; null if it is none. An item may have several lines. */
export function planIn(text: string): PlanList | null {
  if (text === planText(EMPTY_PLAN)) return EMPTY_PLAN
  const lines = text.split('\n')
  if (!/^\(\d+ done, \d+ left\)$/.test(lines.pop() ?? '')) return null
  const items: PlanItem[] = []
  for (const line of lines) {
    const begun = itemIn(line, items.length + 1)
    const last = items.pop()
    if (begun !== null) items.push(...(last === undefined ? [] : [last]), begun)
    else if (last === undefined) return null
    else items.push({ ...last, text: `${last.text}\n${line}` })
  }
  return { items }
}

function itemIn(line: string, number: number): PlanItem | null {
  const status = PLAN_STATUSES.find((one) => line.startsWith(`${number}. ${MARKS[one]} `))
  return status === undefined ? null : { status, text: line.slice(`${number}. ${MARKS[status]} `.length) }
}

function problemOf(items: readonly PlanItem[], change: PlanChange): string | undefined {
  const isMissing = (item: number) => !Number.isInteger(item) || item < 1 || item > items.length
  if (change.type === 'set' && isMissing(change.item)) return noItem(items, change.item)
  if (change.type === 'add' && change.after !== undefined && change.after !== 0 && isMissing(change.after))
    return noItem(items, change.after)
  return undefined
}

function noItem(items: readonly PlanItem[], item: number): string {
  return items.length === 0
    ? `The plan is empty: it has no item ${item}.`
    : `The plan has no item ${item}; its items are 1 to ${items.length}.`
}

function applied(items: readonly PlanItem[], change: PlanChange): readonly PlanItem[] {
  switch (change.type) {
    case 'replace':
      return change.items
    case 'add':
      return items.toSpliced(change.after ?? items.length, 0, { text: change.text, status: 'pending' })
    case 'set':
      return items.map((item, index) =>
        index === change.item - 1
          ? { text: change.text ?? item.text, status: change.status ?? item.status }
          : item,
      )
  }
}

/** Whether a stored value is a plan. */
export function isPlanList(value: unknown): value is PlanList {
  return isObject(value) && Array.isArray(value['items']) && value['items'].every(isPlanItem)
}

function isPlanItem(value: unknown): value is PlanItem {
  return (
    isObject(value) &&
    typeof value['text'] === 'string' &&
    PLAN_STATUSES.some((status) => status === value['status'])
  )
}
