import { hostname } from 'node:os'
import type { Embedded } from '../embed/embed.ts'
import type { HomePaths } from '../home/paths.ts'
import { ownVersion } from '../package/own-files.ts'
import type { Log } from '../server/served.ts'
import type { Server } from '../server/server.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Configuration } from './load-settings.ts'

/** Starts the telemetry of this daemon. Without an endpoint it returns null and does not load the telemetry code. */
export async function telemetryFor(
  { values, sources }: Configuration,
  env: Readonly<Record<string, string | undefined>>,
  { home, reeve, server, log }: { home: HomePaths; reeve: Embedded; server: Server; log: Log },
): Promise<Telemetry | null> {
  const { otelEndpoint: endpoint, otelHeaders, otelIntervalMs } = values
  if (endpoint === null) return null
  const [{ Telemetry: Started }, { standardVariables, pairsIn }] = await Promise.all([
    import('../telemetry/telemetry.ts'),
    import('../telemetry/standard-variables.ts'),
  ])
  const { isDisabled, isGrpc, resource } = standardVariables(env)
  if (isDisabled) return null
  if (isGrpc && sources.otelEndpoint === 'environment' && !env['REEVE_OTEL_ENDPOINT']) {
    log.warn(
      { endpoint },
      'telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL is grpc; set otelEndpoint to one for HTTP',
    )
    return null
  }
  return new Started({
    reeve,
    endpoint,
    headers: pairsIn(otelHeaders ?? ''),
    intervalMs: otelIntervalMs,
    source: {
      version: ownVersion(),
      resource: {
        'service.name': 'reeve',
        'service.version': ownVersion(),
        'service.instance.id': reeve.kernel,
        'host.name': hostname(),
        ...resource,
      },
    },
    positionFile: home.telemetry,
    served: () => server.counted(),
    log,
  })
}
