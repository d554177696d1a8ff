import { agentSessionOf } from '../../core/agent/session.ts'
import { isNamed } from '../../core/capability/is-named.ts'
import type { Need } from '../../core/capability/need.ts'
import { type MayRead, readableBelow } from '../../core/capability/readable-below.ts'
import { ruleOn } from '../../core/capability/rule-on.ts'
import { type Ruling, strictestOf } from '../../core/capability/ruling.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import { isRefusal, type Refusal, refusal } from '../../core/refusal.ts'
import { type Explanation, explainEffect } from '../../kernel/explain.ts'
import type { Kernel } from '../../kernel/kernel.ts'

/** Rules on an effect inside a running call of one agent. The call itself was ruled on when it was registered. */
export class AgentRules {
  readonly #kernel: () => Kernel
  readonly #agent: Pid

  constructor(kernel: () => Kernel, agent: Pid) {
    this.#kernel = kernel
    this.#agent = agent
  }

  /** Whether an allow names this resource itself, and no ceiling denies it. */
  readonly isNamed = async (need: Need, byPort = false): Promise<boolean> => {
    const { edges, host } = this.#kernel()
    const explained = await this.#explanations(need)
    if (explained.some(({ ceilings, facts }) => ruleOn([], ceilings, need, facts).type === 'deny'))
      return false
    const sets = explained.flatMap((one) => one.sets)
    return isNamed(sets, need, { at: edges.clock.now(), host }, byPort)
  }

  /** Which files below a folder may be read by a call that may read the folder. The rules are read once for all of them. */
  readonly readable = async (folder: Need): Promise<MayRead> => {
    const tests = (await this.#explanations(folder)).map((explained) => readableBelow(explained, folder))
    return (path) => tests.every((mayRead) => mayRead(path))
  }

  readonly ruling = async (need: Need): Promise<Ruling> =>
    strictestOf((await this.#explanations(need)).map((explained) => explained.ruling))

  /** The refusal of an effect that is not allowed. A person cannot be asked in the middle of a call. */
  readonly refuse = async (need: Need): Promise<Refusal | undefined> => {
    const ruling = await this.ruling(need)
    switch (ruling.type) {
      case 'allow':
        return undefined
      case 'deny':
        return refusal('denied', ruling.reason, 'Do it another way, or ask the person who set the rules.')
      case 'ask':
        return refusal('denied', 'A person must be asked first.', 'Call the tool with that address itself.')
    }
  }

  async #explanations(need: Need): Promise<readonly Explanation[]> {
    const { edges, host } = this.#kernel()
    const actors = [`process:${this.#agent}`, `session:${agentSessionOf(this.#agent)}`] as const
    const explained = await Promise.all(
      actors.map((actor) => explainEffect(edges, need, { actor, cwd: null, host })),
    )
    return explained.map((one) => {
      if (isRefusal(one)) throw new RefusedError(one)
      return one
    })
  }
}
