import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { isObject } from '../../base/is-object.ts'
import { type JsonObject, notJson } from '../../core/json/json.ts'
import type { ProviderData } from '../../core/model/prompt.ts'

/** The data that a provider attached to a part, in the form in which it is stored. Data that is not JSON is left out. */
export function providerDataOf(metadata: SharedV4ProviderMetadata | undefined): {
  readonly providerData?: ProviderData
} {
  if (metadata === undefined || Object.keys(metadata).length === 0) return {}
  // Providers set members to undefined, which JSON does not have.
  const providerData: JsonObject = JSON.parse(JSON.stringify(metadata))
  return notJson(providerData) === undefined ? { providerData } : {}
}

/** The same, as it is sent back. */
export function providerOptionsOf(data: ProviderData | undefined): {
  readonly providerOptions?: SharedV4ProviderOptions
} {
  if (data === undefined) return {}
  const entries = Object.entries(data).flatMap(([name, value]) =>
    isObject(value) ? [[name, { ...value }] as const] : [],
  )
  return { providerOptions: Object.fromEntries(entries) }
}
