import { BoundedMap } from '../../base/bounded-map.ts'
import type { Environment } from '../../core/environment/environment.ts'
import {
  resolveVariables,
  type Secrets,
  secretsNamedIn,
  secretValue,
  type Variables,
} from '../../core/environment/secrets.ts'
import { RefusedError } from '../../core/errors.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Redaction } from '../../redaction/redaction.ts'

/**
 * The secrets that stored environments refer to by name. A value comes from `source`, or else from the variables of this program.
 */
export class NamedSecrets {
  readonly #source: Secrets | undefined
  readonly #redaction: Redaction
  /** The names of secrets in an environment, by its ref. */
  readonly #named = new BoundedMap<string, readonly string[]>(MAX_ENVIRONMENTS)

  /** Masks every value of the source, also a value that is set while the kernel runs. */
  constructor(source: Secrets | undefined, redaction: Redaction) {
    this.#source = source
    this.#redaction = redaction
    redaction.learnFrom(() => Object.values(this.#readable()))
  }

  /** Throws if a secret is not set or the source is unusable. The values are masked from now on. */
  variablesOf(environment: Environment | null): Variables {
    const resolved = resolveVariables(environment, (name) =>
      secretValue(name, { secrets: this.#source?.read() ?? {}, env: process.env }),
    )
    if (resolved.type === 'refused') throw new RefusedError(resolved.refusal)
    const secrets = Object.entries(environment?.variables ?? {}).filter(
      ([, given]) => typeof given !== 'string',
    )
    this.#redaction.know(secrets.flatMap(([name]) => resolved.variables[name] ?? []))
    return resolved.variables
  }

  /** The variables of a process that starts now. */
  async variablesFor(record: ProcessRecord, kernel: Kernel, signal: AbortSignal): Promise<Variables> {
    const environment = await kernel.environmentOf(record, signal)
    return environment === null ? {} : this.variablesOf(environment)
  }

  /** For masking: the known values of the secrets that an environment names. */
  async knownValuesIn(envRef: string | null, kernel: Kernel): Promise<readonly string[]> {
    const names = await this.#namesIn(envRef, kernel)
    if (names.length === 0) return []
    const secrets = this.#readable()
    return names.flatMap((name) => secretValue(name, { secrets, env: process.env }) ?? [])
  }

  /** Cached: the content of an environment never changes, since its ref is its hash. */
  async #namesIn(ref: string | null, kernel: Kernel): Promise<readonly string[]> {
    if (ref === null || ref === kernel.defaultEnvRef) return []
    const known = this.#named.get(ref)
    if (known !== undefined) return known
    const environment = await kernel.edges.store.ask({ ask: 'environment', ref })
    const names = secretsNamedIn(environment)
    if (environment !== null) this.#named.set(ref, names)
    return names
  }

  /** Empty if the source is unusable: that is an error for a process that needs a value, not for a reader of output. */
  #readable(): Variables {
    try {
      return this.#source?.read() ?? {}
    } catch {
      return {}
    }
  }
}

const MAX_ENVIRONMENTS = 1_000
