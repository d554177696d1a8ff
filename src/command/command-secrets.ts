import { withTimeout } from '../base/with-timeout.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'
import { commandSpecOf } from './command-spec.ts'
import type { InheritedEnvironments } from './environment/inherited.ts'
import type { PassedSecrets } from './environment/passed.ts'
import { secretsOfCaller } from './environment/printed-secrets.ts'

/** What a record tells of what its command was given. */
type Given = Pick<ProcessRecord, 'pid' | 'originator' | 'registrationHash' | 'spec' | 'envRef'> & {
  readonly program?: ProcessRecord['program']
}
type Variables = Readonly<Record<string, string | undefined>>

/** The secrets that environments name. */
export interface NamedSecrets {
  /** Throws where one is not set. */
  variablesOf(environment: Environment | null): Readonly<Record<string, string>>
  /** Of the secrets that an environment names; those that are known. */
  knownValuesIn(envRef: string | null, kernel: Kernel): Promise<readonly string[]>
}

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

  /** Null where nothing is masked. */
  async maskerFor(record: Given, kernel: Kernel): Promise<Masker | null> {
    if (!this.#redaction.isOn) return null
    return this.#redaction.masker(await this.valuesOf(record, kernel))
  }

  /**
   * What this command was given by name, whatever the name; and what its own variables call a secret. A login shell that takes
   * long to say what it has keeps no list waiting for longer than `withinMs`: no command has run with that yet.
   */
  async valuesOf(given: Given, kernel: Kernel, withinMs?: number): Promise<string[]> {
    const { spec, envRef } = given
    const variables = withinMs === undefined ? await this.#learn() : await this.#learnWithin(withinMs)
    const { passEnv = [], env = {}, inheritEnv } = commandSpecOf({ spec })
    const named = await this.#secrets.knownValuesIn(envRef, kernel)
    const ofBase = passEnv.map((name) => variables[name])
    const inherited = (await this.#inherited.of(given))?.env
    const mayHavePassed = passEnv.length > 0 || (inheritEnv !== undefined && inherited === undefined)
    const passed = mayHavePassed ? await this.#passed.masked(given) : []
    const ofCaller = secretsOfCaller(spec, inherited ?? {})
    const values = [...named, ...ofBase, ...passed, ...ofCaller, ...secretsIn(env)]
    return values.filter((value) => value !== undefined)
  }

  async #learnWithin(ms: number): Promise<Variables> {
    if (this.#known !== undefined) return this.#known
    return withTimeout(this.#learn(), ms, {})
  }

  /** Once for each time that the environment is read. */
  async #learn(): Promise<Variables> {
    const variables = await this.#variables()
    if (variables !== this.#known) this.#redaction.know([...secretsIn(process.env), ...secretsIn(variables)])
    this.#known = variables
    return variables
  }
}
