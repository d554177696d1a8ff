/** OpenTelemetry's own variables, except the endpoint and its headers, which are settings. */
export interface StandardVariables {
  /** `OTEL_SDK_DISABLED`: off, even if other variables are set. */
  readonly isDisabled: boolean
  /** `OTEL_EXPORTER_OTLP_PROTOCOL`: the endpoint speaks gRPC, which Reeve does not. */
  readonly isGrpc: boolean
  /** `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`. */
  readonly resource: Readonly<Record<string, string>>
}

export function standardVariables(env: Readonly<Record<string, string | undefined>>): StandardVariables {
  const name = env['OTEL_SERVICE_NAME']
  return {
    isDisabled: env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true',
    isGrpc: env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'grpc',
    resource: {
      ...pairsIn(env['OTEL_RESOURCE_ATTRIBUTES'] ?? ''),
      ...(name === undefined || name === '' ? {} : { 'service.name': name }),
    },
  }
}

/** `key=value,key2=value2`, with URL-encoded values. Parts without `=` are left out. */
export function pairsIn(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    const key = pair.slice(0, Math.max(0, at)).trim()
    return key === '' ? [] : [[key, decoded(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
