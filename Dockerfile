# syntax=docker/dockerfile:1
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY web ./web
COPY bin ./bin
RUN npm ci

FROM node:22-bookworm-slim
# One arena: those of the allocator grow in a process that writes for weeks (docs/operations.md).
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY bin ./bin
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/v1/-/healthy').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["./bin/daybook"]
# A volume without a ledger gets a sample, which the page and the ready line call so. For another ledger, leave --sample
# out: then a volume that is not mounted is an error.
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8080", "--sample"]
