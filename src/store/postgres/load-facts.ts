import type { Question } from '../contract.ts'
import type { UnreadableRows } from '../unreadable.ts'
import { ABSENT, type Fact, keyOf, processKey } from './facts.ts'
import type { allStatements } from './statements/all.ts'
import type { Versioned } from './statements/bodies.ts'

type Statements = ReturnType<typeof allStatements>

/** The facts that answer these questions, by key: one statement for all questions of a type, all types at once. */
export async function loadFacts(
  statements: Statements,
  unreadable: UnreadableRows,
  questions: readonly Question[],
  /** Answers a question of a type for which there is no statement for many. */
  answer: (question: Question) => Promise<unknown>,
): Promise<Map<string, Fact>> {
  const facts = new Map<string, Fact>()
  const byType = new Map<string, Question[]>()
  for (const question of questions) {
    facts.set(keyOf(question), ABSENT)
    const alike = byType.get(question.ask)
    if (alike === undefined) byType.set(question.ask, [question])
    else alike.push(question)
  }
  const loader = new Loader(statements, unreadable, facts, answer)
  await Promise.all([...byType.values()].map((alike) => loader.load(alike)))
  return facts
}

class Loader {
  readonly #statements: Statements
  readonly #unreadable: UnreadableRows
  readonly #facts: Map<string, Fact>
  readonly #answer: (question: Question) => Promise<unknown>

  constructor(
    statements: Statements,
    unreadable: UnreadableRows,
    facts: Map<string, Fact>,
    answer: (question: Question) => Promise<unknown>,
  ) {
    this.#statements = statements
    this.#unreadable = unreadable
    this.#facts = facts
    this.#answer = answer
  }

  /** All questions are of one type. */
  async load(questions: readonly Question[]): Promise<void> {
    const {
      scope,
      notice,
      account,
      schedule,
      lien,
      object,
      trigger,
      authority,
      approval,
      audit,
      prune,
      holder,
      event,
    } = this.#statements
    switch (questions[0]?.ask) {
      case 'process':
        return this.#loadProcesses(only('process', questions).map(({ pid }) => pid))
      case 'tombstone':
        for (const tombstone of await prune.tombstones(only('tombstone', questions).map(({ pid }) => pid)))
          this.#put({ ask: 'tombstone', pid: tombstone.pid }, 1, { ...tombstone })
        return
      case 'session':
        return this.#putAll(
          await scope.sessionsOf(only('session', questions).map(({ id }) => id)),
          ({ id }) => ({
            ask: 'session',
            id,
          }),
        )
      case 'turn': {
        const turns = only('turn', questions)
        const found = await scope.turnsOf(
          turns.map(({ session }) => session),
          turns.map(({ id }) => id),
        )
        return this.#putAll(found, ({ session, id }) => ({ ask: 'turn', session, id }))
      }
      case 'group':
        return this.#putAll(await scope.groupsOf(only('group', questions).map(({ id }) => id)), ({ id }) => ({
          ask: 'group',
          id,
        }))
      case 'inbox':
        return this.#putAll(
          await notice.inboxesOf(only('inbox', questions).map(({ scope }) => scope)),
          ({ scope }) => ({ ask: 'inbox', scope }),
        )
      case 'account':
        return this.#putAll(await account.read(only('account', questions).map(({ id }) => id)), ({ id }) => ({
          ask: 'account',
          id,
        }))
      case 'schedule':
        return this.#putAll(
          await schedule.read(only('schedule', questions).map(({ id }) => id)),
          ({ id }) => ({ ask: 'schedule', id }),
        )
      case 'liens':
        return this.#putAll(
          await lien.read(only('liens', questions).map(({ host }) => host)),
          ({ host }) => ({
            ask: 'liens',
            host,
          }),
        )
      case 'revocation':
        return this.#putAll(
          await object.revocations(only('revocation', questions).map(({ handle }) => handle)),
          ({ handle }) => ({ ask: 'revocation', handle }),
        )
      case 'trigger':
        return this.#putAll(await trigger.read(only('trigger', questions).map(({ id }) => id)), ({ id }) => ({
          ask: 'trigger',
          id,
        }))
      case 'delivery':
        return this.#putAll(
          await trigger.readDeliveries(only('delivery', questions).map(({ pid }) => pid)),
          ({ pid }) => ({ ask: 'delivery', pid }),
        )
      case 'ruleSet': {
        // The version is the epoch of all rule sets.
        const subjects = only('ruleSet', questions).map(({ subject }) => subject)
        const { epoch, bySubject } = await authority.ruleSetsOf(subjects)
        for (const subject of subjects)
          this.#put({ ask: 'ruleSet', subject }, epoch, bySubject.get(subject) ?? null)
        return
      }
      case 'ruleUse':
        return this.#putAll(
          await authority.ruleUsesOf(only('ruleUse', questions).map(({ id }) => id)),
          ({ id }) => ({ ask: 'ruleUse', id }),
        )
      case 'approval':
        return this.#putAll(
          await approval.read(only('approval', questions).map(({ id }) => id)),
          ({ id }) => ({ ask: 'approval', id }),
        )
      case 'auditWindow':
        return this.#putAll(
          await audit.windowsOf(only('auditWindow', questions).map(({ key }) => key)),
          ({ key }) => ({ ask: 'auditWindow', key }),
        )
      case 'environment': {
        const refs = only('environment', questions).map(({ ref }) => ref)
        for (const { ref, environment } of await scope.environmentsOf(refs))
          this.#put({ ask: 'environment', ref }, 1, environment)
        return
      }
      case 'holder':
        for (const row of await holder.read(only('holder', questions).map(({ id }) => id)))
          this.#put({ ask: 'holder', id: row.id }, row.renewedAt, row)
        return
      case 'announced': {
        const ids = only('announced', questions).map(({ id }) => id)
        const announced = new Set(await holder.announced(ids))
        for (const id of ids)
          this.#put({ ask: 'announced', id }, Number(announced.has(id)), announced.has(id))
        return
      }
      case 'event': {
        const events = only('event', questions)
        const found = await event.byKeys(
          events.map(({ pid }) => pid),
          events.map(({ replayKey }) => replayKey),
        )
        for (const one of found)
          this.#put({ ask: 'event', pid: one.pid, replayKey: one.replayKey ?? '' }, 1, one)
        return
      }
      default:
        await Promise.all(
          questions.map(async (question) => this.#put(question, 1, await this.#answer(question))),
        )
    }
  }

  async #loadProcesses(pids: readonly string[]): Promise<void> {
    for (const { version, row } of await this.#statements.process.read(pids))
      this.#facts.set(processKey(row.record.pid), { version, value: row })
    if (this.#unreadable.size === 0) return
    // Version 0, so that it is not cached: another program may repair the row.
    for (const pid of pids) {
      const refusal = this.#unreadable.refuse(pid)
      if (refusal !== undefined) this.#put({ ask: 'process', pid }, 0, refusal)
    }
  }

  #putAll<Thing>(found: readonly Versioned<Thing>[], questionOf: (value: Thing) => Question): void {
    for (const { version, value } of found) this.#put(questionOf(value), version, value)
  }

  #put(question: Question, version: number, value: unknown): void {
    this.#facts.set(keyOf(question), { version, value })
  }
}

function only<Ask extends Question['ask']>(
  ask: Ask,
  questions: readonly Question[],
): Extract<Question, { ask: Ask }>[] {
  return questions.filter((question): question is Extract<Question, { ask: Ask }> => question.ask === ask)
}
