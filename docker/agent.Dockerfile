# An agent of the studio in a container. Build it after `npm run build`, in the root of the repository:
#   docker build --file docker/agent.Dockerfile --tag ennead/agent:1.0.0 .
FROM node:20-slim
WORKDIR /opt/ennead
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY dist ./dist
USER node
WORKDIR /workspace
ENTRYPOINT ["node", "/opt/ennead/dist/studio/program/main.js"]
