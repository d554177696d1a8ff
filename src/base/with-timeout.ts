/** Resolves like `promise`, or to `fallback` after `ms`. The promise itself goes on. */
export async function withTimeout<Value, const Fallback>(
  promise: Promise<Value>,
  ms: number,
  fallback: Fallback,
): Promise<Value | Fallback> {
  const late = Promise.withResolvers<Fallback>()
  const timer = setTimeout(late.resolve, ms, fallback)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
