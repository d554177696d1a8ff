import type { AnswerTo, Blobs, Commit, Durability, Plan, Question, Store } from '../../src/store/contract.ts'
import { toStoreError } from '../../src/store/sqlite/store-errors.ts'
import { sqliteError } from './faults.ts'
import { checkAcknowledged, checkFailed, type PlanList, watchPlan } from './plan-watch.ts'
import type { Doer } from './schedule.ts'
import type { Stage } from './stage.ts'

export interface StoreUser extends Doer {
  readonly alive: boolean
}

/**
 * The real store, with delays: questions and acknowledgements may take time, and a dead peer gets no answer. An answer is read
 * at one moment, but not always when the question was asked, and not always delivered when it was read.
 */
export class SimulatedStore implements Store {
  readonly durability: Durability
  readonly blobs: Blobs
  readonly #inner: Store
  readonly #stage: Stage
  readonly #user: StoreUser
  readonly #list: PlanList
  readonly #alter: <Answer>(plan: Plan<Answer>) => Plan<Answer>

  constructor(
    inner: Store,
    stage: Stage,
    user: StoreUser,
    list: PlanList,
    alter: <Answer>(plan: Plan<Answer>) => Plan<Answer>,
  ) {
    this.#inner = inner
    this.#stage = stage
    this.#user = user
    this.#list = list
    this.#alter = alter
    this.durability = inner.durability
    this.blobs = inner.blobs
  }

  async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
    const { askDelayChance, faultChance } = this.#stage.settings
    await this.#pause(askDelayChance, `asks ${question.ask}`)
    if (this.#stage.faulty && this.#stage.random.chance(faultChance * 0.2)) {
      this.#stage.counts.fault('io at ask')
      throw toStoreError(sqliteError('io'), 'reeve.db')
    }
    const answer = await this.#inner.ask(question)
    await this.#pause(askDelayChance, `hears ${question.ask}`)
    return answer
  }

  async write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (!this.#user.alive) return silence()
    const { plan: watching, watched } = watchPlan(this.#alter(plan), this.#list)
    const { acknowledgementDelayChance } = this.#stage.settings
    try {
      const answer = await this.#inner.write(watching)
      await this.#pause(acknowledgementDelayChance, 'hears of a commit')
      checkAcknowledged(this.#stage, this.#user.name, watched)
      return answer
    } catch (error) {
      await this.#pause(acknowledgementDelayChance, 'hears of a failure')
      checkFailed(this.#stage, this.#user.name, watched, error)
      throw error
    }
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#inner.onCommit((commit) => {
      if (this.#user.alive) listener(commit)
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** May wait for its turn; a peer that died meanwhile never gets the answer. */
  async #pause(chance: number, what: string): Promise<void> {
    if (!this.#user.alive) return silence()
    if (!this.#stage.random.chance(chance)) return
    await new Promise<void>((resolve) => this.#stage.schedule.soon(this.#user, what, resolve))
  }
}

function silence<Never>(): Promise<Never> {
  return new Promise<Never>(() => {})
}
