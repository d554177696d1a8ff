import { readFileSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import type { Log } from '../server/served.ts'
import type { ServeOptions, Server } from '../server/server.ts'
import { addressOf, type Configuration } from './load-settings.ts'
import type { Settings } from './settings.ts'

/** Serves on the configured address. If the default port is taken, and the user did not choose it, any free port is used. */
export async function serveAtAddress(
  serve: (options: ServeOptions) => Promise<Server>,
  { values, sources }: Configuration,
  log: Log,
  options: Omit<ServeOptions, 'listen'>,
): Promise<Server> {
  const address = addressOf(values.listen)
  if (address === null) return serve(options)
  const tls = tlsOf(values)
  const listen = { ...address, ...(tls === undefined ? {} : { tls }) }
  try {
    return await serve({ ...options, listen })
  } catch (error) {
    const isTaken = error instanceof ReeveError && error.code === 'address_in_use'
    if (!isTaken || sources.listen !== 'default') throw error
    log.warn({ address: values.listen }, 'another program uses the default port; using any free port')
    return serve({ ...options, listen: { ...listen, port: 0 } })
  }
}

function tlsOf({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === null || tlsKey === null) return undefined
  try {
    return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) }
  } catch (error) {
    throw new ReeveError(
      'bad_configuration',
      `The files of tlsCert (${tlsCert}) and tlsKey (${tlsKey}) cannot be read: ${(error as Error).message}.`,
      'Name two PEM files that the daemon may read.',
      { cause: error, details: { key: 'tlsCert', value: tlsCert } },
    )
  }
}
