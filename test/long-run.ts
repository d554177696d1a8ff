/** True in `npm run soak:steps`, `soak:turns` and `soak:races`, which repeat more and take longer than `npm test`. */
export const isLongRun: boolean = process.env['REEVE_LONG'] === '1'
