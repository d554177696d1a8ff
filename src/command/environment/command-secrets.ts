import { withTimeout } from '../../base/with-timeout.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Masker } from '../../redaction/masker.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import { secretsIn } from '../../redaction/secret-name.ts'
import { commandSpecOf } from '../command-spec.ts'
import type { InheritedEnvironments } from './inherited.ts'
import type { NamedSecrets } from './named-secrets.ts'
import type { PassedSecrets } from './passed-secrets.ts'
import { secretsOfCaller } from './printed-secrets.ts'

/** The parts of a record that name the secrets of its command. */
type Given = Pick<ProcessRecord, 'pid' | 'originator' | 'registrationHash' | 'spec' | 'envRef'> & {
  readonly program?: ProcessRecord['program']
  readonly effectiveSpec?: ProcessRecord['effectiveSpec']
}
type Variables = Readonly<Record<string, string | undefined>>

interface SecretSources {
  readonly variables: () => Promise<Variables>
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
  readonly named: NamedSecrets
}

/** The secrets that commands are given, or could print: those of the base environment by name, and those of each spec. */
export class CommandSecrets {
  readonly #redaction: Redaction
  readonly #variables: () => Promise<Variables>
  readonly #passed: PassedSecrets
  readonly #inherited: InheritedEnvironments
  readonly #secrets: NamedSecrets
  #known: Variables | undefined

  constructor(redaction: Redaction, sources: SecretSources) {
    this.#redaction = redaction
    this.#variables = sources.variables
    this.#passed = sources.passed
    this.#inherited = sources.inherited
    this.#secrets = sources.named
    // Command lines are shown before any output is.
    void this.#learn()
  }

  /** Null if nothing is masked. */
  async maskerFor(record: Given, kernel: Kernel): Promise<Masker | null> {
    if (!this.#redaction.isOn) return null
    return this.#redaction.masker(await this.valuesOf(record, kernel))
  }

  /**
   * The values that this command was given by name, under any name, and those of its own variables whose names mean a secret.
   * A slow login shell delays a list by `withinMs` at most: no command has run with its environment yet.
   */
  async valuesOf(given: Given, kernel: Kernel, withinMs?: number): Promise<string[]> {
    const { envRef } = given
    const variables = withinMs === undefined ? await this.#learn() : await this.#learnWithin(withinMs)
    const { passEnv = [], env = {}, inheritEnv } = commandSpecOf(given)
    const named = await this.#secrets.knownValuesIn(envRef, kernel)
    const ofBase = passEnv.map((name) => variables[name])
    const inherited = (await this.#inherited.of(given))?.env
    const mayHavePassed = passEnv.length > 0 || (inheritEnv !== undefined && inherited === undefined)
    const passed = mayHavePassed ? await this.#passed.masked(given) : []
    const ofCaller = secretsOfCaller(startSpecOf(given), inherited ?? {})
    const values = [...named, ...ofBase, ...passed, ...ofCaller, ...secretsIn(env)]
    return values.filter((value) => value !== undefined)
  }

  async #learnWithin(ms: number): Promise<Variables> {
    if (this.#known !== undefined) return this.#known
    return withTimeout(this.#learn(), ms, {})
  }

  /** Runs once for each reading of the environment. */
  async #learn(): Promise<Variables> {
    const variables = await this.#variables()
    if (variables !== this.#known) this.#redaction.know([...secretsIn(process.env), ...secretsIn(variables)])
    this.#known = variables
    return variables
  }
}
