import type { Environment } from '../core/environment/environment.ts'
import { resolveVariables, type Secrets, secretValue, type Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Redaction } from '../redaction/redaction.ts'

/** The secrets that processes of this kernel may be given: those of `source`, then variables of this program. */
export class EnvironmentSecrets {
  readonly #source: Secrets | undefined

  /** Every value of the source is masked, also one that is set while the kernel runs. */
  constructor(source: Secrets | undefined, redaction: Redaction) {
    this.#source = source
    redaction.learnFrom(() => Object.values(this.#readable()))
  }

  /** Throws where a secret is not set, or the source cannot be used. */
  variablesOf(environment: Environment | null): Variables {
    const resolved = resolveVariables(environment, (name) =>
      secretValue(name, { secrets: this.#source?.read() ?? {}, env: process.env }),
    )
    if (resolved.type === 'refused') throw new RefusedError(resolved.refusal)
    return resolved.variables
  }

  /** What a process that is started now runs with. */
  async variablesFor(record: ProcessRecord, kernel: Kernel, signal: AbortSignal): Promise<Variables> {
    const environment = await kernel.environmentOf(record, signal)
    return environment === null ? {} : this.variablesOf(environment)
  }

  /** For masking: undefined where it is not known. */
  knownValue(name: string): string | undefined {
    return secretValue(name, { secrets: this.#readable(), env: process.env })
  }

  /** A source that has become unusable is an error of who needs a value, not of who reads output. */
  #readable(): Variables {
    try {
      return this.#source?.read() ?? {}
    } catch {
      return {}
    }
  }
}
