/** Whether a value is an object with members, and neither null nor an array. Of a union it keeps the object types. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
