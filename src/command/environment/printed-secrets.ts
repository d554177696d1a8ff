import type { ProcessRecord } from '../../core/process/record.ts'
import { secretsIn } from '../../redaction/secret-name.ts'
import { commandSpecOf } from '../command-spec.ts'
import { folderOf } from '../output/pid-folder.ts'
import { printedValues } from '../output/printed-values.ts'
import type { PassedSecrets } from './passed.ts'

type Variables = Readonly<Record<string, string>>

/** The secrets in the environment that a caller gave its command: by their names, and by those in `passEnv`. */
export function secretsOfCaller(spec: ProcessRecord['spec'], env: Variables): string[] {
  const { passEnv = [] } = commandSpecOf({ spec })
  return [...secretsIn(env), ...passEnv.flatMap((name) => env[name] ?? [])]
}

/**
 * Keeps the secrets of its caller that a command has printed, in the private file of what was passed to it: the log has them
 * as well, and they stay masked for as long as it is kept. The others are not written anywhere.
 */
export async function keepPrinted(
  record: ProcessRecord,
  env: Variables,
  { passed, output }: { readonly passed: PassedSecrets; readonly output: string },
): Promise<void> {
  const printed = await printedValues(folderOf(output, record.pid), secretsOfCaller(record.spec, env))
  if (printed.size === 0) return
  await passed.add(record, Object.fromEntries(Object.entries(env).filter(([, value]) => printed.has(value))))
}
