import type { Need } from '../core/capability/need.ts'
import { acknowledgedThrough, emptyInbox, type Inbox, receive } from '../core/inbox/inbox.ts'
import {
  MAX_OPEN_MESSAGES,
  type Message,
  type MessageFilter,
  matchesMessage,
  pidOfScope,
  sessionOfScope,
} from '../core/message/message.ts'
import type { MessageFacts } from '../core/process/decision.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Actor, ProcessRecord, Scope } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know, type StoredNotice } from '../store/contract.ts'
import { needsOfProcess, ruleOnAct } from './beyond-ownership.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** Whether the actor may send the message. `record` is the process whose event it becomes. */
export function* refuseRoute(
  edges: Edges,
  rows: WorkingRows,
  record: ProcessRecord,
  { actor, to, at }: Extract<Intent, { type: 'message' }>,
): PlanPart<Refusal | undefined> {
  const addressee = to === `process:${record.pid}` ? record : null
  const sender = yield* senderOf(rows, actor)
  const denied = edges.authorize(actor, 'signal', { type: 'message', route: { to, addressee, sender } })
  if (to === actor) return denied
  const needs = addressee === null ? needsOfScope(to) : yield* needsOfProcess(rows, 'write', addressee)
  const ruled = yield* ruleOnAct(edges, rows, actor, needs, at)
  switch (ruled.type) {
    case 'unnamed':
      return denied
    case 'denied':
      return denied ?? deniedByRule(actor, to, ruled.rule.text)
    case 'allowed':
      // What ownership allows uses up no rule.
      if (denied !== undefined) rows.add(ruled.changes)
      return undefined
  }
}

function needsOfScope(to: Scope): readonly Need[] {
  const [kind = '', path = ''] = to.split(/:(.*)/s)
  if (kind !== 'session' && kind !== 'human') return []
  return [{ right: 'write', resource: { kind, path }, attributes: {} }]
}

function deniedByRule(subject: Actor, to: Scope, rule: string): Refusal {
  return refusal(
    'denied',
    `${subject} may not send a message to ${to}: ${rule}.`,
    'Do it another way, or ask the person who set the rules.',
    { subject, right: 'write', rule },
  )
}

/** The facts that a message is decided on, besides the row of the process whose event it becomes. */
export function* messageFacts(
  rows: WorkingRows,
  record: ProcessRecord,
  { actor, to }: Extract<Intent, { type: 'message' }>,
): PlanPart<MessageFacts> {
  const sender = yield* senderOf(rows, actor)
  const id = sessionOfScope(to)
  const session = id === null ? null : yield* know({ ask: 'session', id })
  // A process has an event for each message in its inbox: with few events there is nothing to count.
  const isShort = to === `process:${record.pid}` && record.revision < MAX_OPEN_MESSAGES
  return { sender, session, open: isShort ? 0 : yield* countOpen(rows, to) }
}

/** Messages that some consumer has acknowledged do not count. */
function* countOpen(rows: WorkingRows, scope: Scope): PlanPart<number> {
  const after = acknowledgedThrough(yield* rows.inbox(scope))
  return yield* know({ ask: 'openNotices', scope, kind: 'message', after, limit: MAX_OPEN_MESSAGES })
}

function* senderOf(rows: WorkingRows, actor: Actor): PlanPart<ProcessRecord | null> {
  const pid = pidOfScope(actor)
  return pid === null ? null : ((yield* rows.process(pid))?.record ?? null)
}

const PAGE = 100

/** The first open message in an inbox that the filter selects. */
export function* firstMessage(scope: Scope, filter: MessageFilter): PlanPart<StoredNotice | null> {
  let after = 0
  for (;;) {
    const page = { after, limit: PAGE, open: true, kind: 'message' } as const
    const notices = yield* know({ ask: 'notices', scope, ...page })
    const found = notices.find(({ payload }) => matchesMessage(filter, Object(payload) as Message))
    if (found !== undefined) return found
    if (notices.length < PAGE) return null
    after = notices.at(-1)?.position ?? after
  }
}

/** A wait has taken this message: no consumer of the inbox gets it any more. */
export function consumeMessage(
  rows: WorkingRows,
  was: Inbox | null,
  { scope, position }: StoredNotice,
): void {
  const inbox = receive(was ?? emptyInbox(scope), position)
  rows.add([
    { type: 'inbox', was, inbox },
    { type: 'notices_done', scope, positions: [position], how: 'consumed' },
  ])
}
