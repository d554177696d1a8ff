import { StoreError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Question } from '../contract.ts'
import type { UnreadableRow, UnreadableRows } from '../unreadable.ts'
import { ABSENT, type Fact, keyOf, processKey } from './facts.ts'
import type { Link } from './link.ts'
import { accountStatements } from './statements/account.ts'
import { eventStatements } from './statements/event.ts'
import { holderStatements } from './statements/holder.ts'
import { listStatements } from './statements/list.ts'
import { metaStatements } from './statements/meta.ts'
import { noticeStatements } from './statements/notice.ts'
import { type NumberedRow, processStatements } from './statements/process.ts'
import { pruneStatements } from './statements/prune.ts'
import { scopeStatements } from './statements/scope.ts'

/** The kinds of question that are answered by key, and so many at once. */
type ByKey =
  | ('process' | 'tombstone' | 'session' | 'turn' | 'group')
  | ('inbox' | 'account' | 'environment' | 'holder' | 'announced' | 'event')

const ignore = () => undefined

/** The tables of one schema: answers questions. What changes them is one statement, in `commit.ts`. */
export class Tables {
  readonly #process: ReturnType<typeof processStatements>
  readonly #event: ReturnType<typeof eventStatements>
  readonly #scope: ReturnType<typeof scopeStatements>
  readonly #holder: ReturnType<typeof holderStatements>
  readonly #notice: ReturnType<typeof noticeStatements>
  readonly #account: ReturnType<typeof accountStatements>
  readonly #meta: ReturnType<typeof metaStatements>
  readonly #prune: ReturnType<typeof pruneStatements>
  readonly #list: ReturnType<typeof listStatements>
  readonly #unreadable: UnreadableRows

  /** `seen` is told of every process row in an answer, with its version. */
  constructor(
    link: Link,
    at: string,
    { unreadable, seen = ignore }: { unreadable: UnreadableRows; seen?: (found: NumberedRow) => void },
  ) {
    this.#unreadable = unreadable
    this.#process = processStatements(link, at, seen, unreadable)
    this.#event = eventStatements(link, at, unreadable)
    this.#scope = scopeStatements(link, at)
    this.#holder = holderStatements(link, at)
    this.#notice = noticeStatements(link, at)
    this.#account = accountStatements(link, at)
    this.#meta = metaStatements(link, at)
    this.#prune = pruneStatements(link, at)
    this.#list = listStatements(link, at, seen, unreadable)
  }

  position(): Promise<number> {
    return this.#meta.position()
  }

  stay(store: string): Promise<number> {
    return this.#meta.stay(store)
  }

  forgetPruned(pids: readonly Pid[]): void {
    this.#unreadable.forget(pids)
  }

  async answer(question: Question): Promise<unknown> {
    switch (question.ask) {
      case 'process':
      case 'tombstone':
      case 'session':
      case 'turn':
      case 'group':
      case 'inbox':
      case 'account':
      case 'environment':
      case 'holder':
      case 'announced':
      case 'event': {
        const facts = await this.load([question])
        const value = facts.get(keyOf(question))?.value ?? null
        if (value instanceof StoreError) throw value
        return value
      }
      case 'environments':
        return this.#scope.environments(question)
      case 'eventAt':
        return this.#event.bySeq(question)
      case 'pids':
        return this.#process.pids(question)
      case 'processes':
        return this.#list.list(question)
      case 'claimable':
        return this.#process.claimable(question)
      case 'nextDue':
        return this.#process.nextDue(question)
      case 'held':
        return this.#process.held(question)
      case 'holders':
        return this.#holder.all()
      case 'unannounced':
        return this.#holder.unannounced()
      case 'carrying':
        return this.#process.carrying(question)
      case 'carryingScopes':
        return this.#scope.carrying(question.limit)
      case 'waking':
        return this.#process.waking(question)
      case 'grants':
        return this.#scope.grants(question)
      case 'sessions':
        return this.#scope.sessions(question)
      case 'events':
        return this.#event.after(question)
      case 'tail':
        return this.#event.tail(question)
      case 'changes':
        return this.#event.changes(question)
      case 'notices':
        return this.#notice.read(question)
      case 'overflowing':
        return this.#notice.overflowing(question.limit)
      case 'accounts':
        return this.#account.list(question)
      case 'activity':
        return this.#process.activity(question)
      case 'prunable':
        return this.#prune.candidates(question)
      case 'pruneThrough':
        return this.#prune.through(question)
      case 'tombstones':
        return this.#prune.oldTombstones(question)
      case 'storage':
        return this.#prune.storage()
      case 'unreadable':
        return this.#stillUnreadable()
      case 'secret':
        return this.#meta.secret()
    }
  }

  /** The facts that answer these questions, by their keys: one statement per kind, all of them in one round. */
  async load(questions: readonly Question[]): Promise<Map<string, Fact>> {
    const facts = new Map<string, Fact>()
    const asked = new Map<string, Question[]>()
    for (const question of questions) {
      facts.set(keyOf(question), ABSENT)
      const alike = asked.get(question.ask)
      if (alike === undefined) asked.set(question.ask, [question])
      else alike.push(question)
    }
    await Promise.all([...asked.values()].map((alike) => this.#loadAlike(alike, facts)))
    return facts
  }

  /** What was met is looked at again: it may have been mended or pruned by another program. */
  async #stillUnreadable(): Promise<readonly UnreadableRow[]> {
    if (this.#unreadable.size > 0) await this.#process.read(this.#unreadable.all().map(({ pid }) => pid))
    return this.#unreadable.all()
  }

  async #loadAlike(questions: readonly Question[], facts: Map<string, Fact>): Promise<void> {
    const of = <Ask extends ByKey>(ask: Ask) =>
      questions.filter((question): question is Extract<Question, { ask: Ask }> => question.ask === ask)
    const put = (question: Question, version: number, value: unknown) =>
      facts.set(keyOf(question), { version, value })
    switch (questions[0]?.ask) {
      case 'process':
        for (const { version, row } of await this.#process.read(of('process').map(({ pid }) => pid))) {
          facts.set(processKey(row.record.pid), { version, value: row })
        }
        // Version 0, so that it is not kept: it may be mended meanwhile.
        if (this.#unreadable.size > 0)
          for (const question of of('process')) {
            const refused = this.#unreadable.refuse(question.pid)
            if (refused !== undefined) put(question, 0, refused)
          }
        return
      case 'tombstone':
        for (const tombstone of await this.#prune.tombstones(of('tombstone').map(({ pid }) => pid))) {
          put({ ask: 'tombstone', pid: tombstone.pid }, 1, { ...tombstone })
        }
        return
      case 'session':
        for (const { version, value } of await this.#scope.sessionsOf(of('session').map(({ id }) => id))) {
          put({ ask: 'session', id: value.id }, version, value)
        }
        return
      case 'turn': {
        const turns = of('turn')
        const found = await this.#scope.turnsOf(
          turns.map(({ session }) => session),
          turns.map(({ id }) => id),
        )
        for (const { version, value } of found)
          put({ ask: 'turn', session: value.session, id: value.id }, version, value)
        return
      }
      case 'group':
        for (const { version, value } of await this.#scope.groupsOf(of('group').map(({ id }) => id))) {
          put({ ask: 'group', id: value.id }, version, value)
        }
        return
      case 'inbox':
        for (const { version, value } of await this.#notice.inboxesOf(
          of('inbox').map(({ scope }) => scope),
        )) {
          put({ ask: 'inbox', scope: value.scope }, version, value)
        }
        return
      case 'account':
        for (const { version, value } of await this.#account.read(of('account').map(({ id }) => id))) {
          put({ ask: 'account', id: value.id }, version, value)
        }
        return
      case 'environment':
        for (const { ref, environment } of await this.#scope.environmentsOf(
          of('environment').map(({ ref }) => ref),
        )) {
          put({ ask: 'environment', ref }, 1, environment)
        }
        return
      case 'holder':
        for (const holder of await this.#holder.read(of('holder').map(({ id }) => id))) {
          put({ ask: 'holder', id: holder.id }, holder.renewedAt, holder)
        }
        return
      case 'announced': {
        const ids = of('announced').map(({ id }) => id)
        const there = new Set(await this.#holder.announced(ids))
        for (const id of ids) put({ ask: 'announced', id }, Number(there.has(id)), there.has(id))
        return
      }
      case 'event': {
        const events = of('event')
        const found = await this.#event.byKeys(
          events.map(({ pid }) => pid),
          events.map(({ replayKey }) => replayKey),
        )
        for (const event of found) {
          put({ ask: 'event', pid: event.pid, replayKey: event.replayKey ?? '' }, 1, event)
        }
        return
      }
      default:
        await Promise.all(questions.map(async (question) => put(question, 1, await this.answer(question))))
    }
  }
}
