import type { Environment } from '../core/environment/environment.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Masker } from '../redaction/masker.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { isSecretName } from '../redaction/secret-name.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The secrets that commands are given, or could print: those of the base environment by name, and those of each spec. */
export class CommandSecrets {
  readonly #redaction: Redaction
  readonly #variables: () => Promise<Variables>
  #known: Variables | undefined

  constructor(redaction: Redaction, variables: () => Promise<Variables>) {
    this.#redaction = redaction
    this.#variables = variables
    // Command lines are shown before any output is.
    void this.#learn()
  }

  /** Null where nothing is masked. */
  async maskerFor(record: ProcessRecord, kernel: Kernel): Promise<Masker | null> {
    if (!this.#redaction.isOn) return null
    const variables = await this.#learn()
    return this.#redaction.masker(await valuesOf(record, kernel, variables))
  }

  /** Once for each time that the environment is read. */
  async #learn(): Promise<Variables> {
    const variables = await this.#variables()
    if (variables !== this.#known) this.#redaction.know([...secretsIn(process.env), ...secretsIn(variables)])
    this.#known = variables
    return variables
  }
}

/** What this command was given by name, whatever the name; and what its own variables call a secret. */
async function valuesOf(
  { spec, envRef }: ProcessRecord,
  kernel: Kernel,
  variables: Variables,
): Promise<string[]> {
  const { passEnv = [], env = {} } = spec as unknown as CommandSpec
  const environment: Environment | null =
    envRef === null ? null : await kernel.edges.store.ask({ ask: 'environment', ref: envRef })
  const named = Object.values(environment?.variables ?? {}).flatMap((value) =>
    typeof value === 'string' ? [] : [process.env[value.secret]],
  )
  const passed = passEnv.map((name) => variables[name])
  return [...named, ...passed, ...secretsIn(env)].filter((value) => value !== undefined)
}

function secretsIn(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  )
}
