declare module "swagger-ui" {
  const SwaggerUI: (options: Record<string, unknown>) => unknown;
  export default SwaggerUI;
}
declare module "swagger-client/es/resolver/strategies/generic" {
  const strategy: Record<string, unknown>;
  export default strategy;
}
