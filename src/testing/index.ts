export { type SimulatedClock, simulatedClock } from './simulated-clock.ts'
export { type StoreUnderTest, type Suite, storeConformance } from './store-conformance.ts'
export { seededRandom, type TestEdgesOptions, testEdges } from './test-edges.ts'
export { type Script, type TestKernel, type TestKernelOptions, testKernel } from './test-kernel.ts'
